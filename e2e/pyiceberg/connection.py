"""How an engine connects: what `sluice connect` prints for it, with the secrets of the environment filled in."""
import functools
import json
import os
import re
import subprocess
import tempfile

from steps import Settings as S

# The variables that hold the engine's credentials: a token, or else client id and secret.
TOKEN, CLIENT_ID, CLIENT_SECRET = "ENGINE_TOKEN", "ENGINE_CLIENT_ID", "ENGINE_CLIENT_SECRET"


@functools.cache
def printed(engine, mode, oauth):
    words = [os.environ["SLUICE_BIN"], "connect", engine, "--mode", mode, "--data", os.environ["SLUICE_DATA"], "-o", "json",
             "--token-env", TOKEN, "--client-id-env", CLIENT_ID, "--client-secret-env", CLIENT_SECRET]
    done = subprocess.run(words + (["--oauth"] if oauth else []), capture_output=True, text=True)
    if done.returncode:
        raise AssertionError(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def properties(engine, token=None):
    """The engine's properties, with the token if one is given, else with client id and secret of the environment."""
    token = token or os.environ.get(TOKEN)
    values = {**os.environ, TOKEN: token or ""}
    return {name: re.sub(r"\$\{(\w+)\}", lambda m: values[m[1]], value)
            for name, value in printed(engine, S.delegation, not token)["properties"].items()}


def text(engine):
    """The text that is printed, with the credentials of the environment in variables."""
    return printed(engine, S.delegation, not os.environ.get(TOKEN))["text"]


def written(engine, file, program):
    """The file that the text writes when a shell runs it; the program that it starts is left out."""
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, program), "w") as f:
            f.write("#!/bin/sh\n")
        os.chmod(f.name, 0o700)
        subprocess.run(["sh", "-c", text(engine)], cwd=folder, check=True, env={**os.environ, "PATH": folder + os.pathsep + os.environ["PATH"]})
        with open(os.path.join(folder, file)) as f:
            return f.read()
