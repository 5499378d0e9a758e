"""Runs the tests of the Python SDK, those against a server too."""
import os
import subprocess
import sys

from product import Product

product = Product()
try:
    tests = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "sdk", "python", "tests")
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests],
                          env={**os.environ, "SLUICE_URI": product.root, "SLUICE_TOKEN": product.boot["token"]})
    if done.returncode:
        print(product.log())
    sys.exit(done.returncode)
finally:
    product.close()
