package s3gateway

import (
	"encoding/xml"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v3"
	"github.com/google/uuid"
	"github.com/versity/versitygw/iamapi/policy"
)

const (
	stsVersion = "2011-06-15"
	// maxForm bounds the body of an AssumeRole request, in bytes.
	maxForm = 64 << 10
	// defaultSession is how long credentials live when a request does not say.
	defaultSession = time.Hour
)

// stsServer answers AssumeRole, the one operation of STS that gives credentials with an inline session policy.
type stsServer struct {
	rootKey    string
	rootSecret string
	minSession time.Duration
	vault      *vault
	log        *slog.Logger
	now        func() time.Time

	arn     *regexp.Regexp
	session *regexp.Regexp
}

func newSTS(o Options, v *vault) *stsServer {
	return &stsServer{
		rootKey: o.RootKey, rootSecret: o.RootSecret, minSession: o.MinSession, vault: v, log: o.Logger, now: time.Now,
		arn:     regexp.MustCompile(`^arn:[\w-]+:iam::\d*:role/[\w+=,.@/-]{1,512}$`),
		session: regexp.MustCompile(`^[\w+=,.@-]{2,64}$`),
	}
}

// refusal is an error as STS clients read it.
type refusal struct {
	status   int
	code     string
	sentence string
}

func (r *refusal) Error() string { return r.sentence }

func invalidForm(sentence string) *refusal {
	return &refusal{http.StatusBadRequest, "ValidationError", sentence}
}

// serve answers POST /.
func (s *stsServer) serve(c fiber.Ctx) error {
	kind, _, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || kind != fiber.MIMEApplicationForm || c.Request().Header.ContentLength() > maxForm {
		return s.refuse(c, invalidForm("Send an AssumeRole request as a form of at most 64 KiB."))
	}
	body := c.BodyRaw()
	if err := s.verify(c, body); err != nil {
		return s.refuse(c, err)
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return s.refuse(c, invalidForm("The form cannot be read."))
	}
	answer, bad := s.assumeRole(form)
	if bad != nil {
		return s.refuse(c, bad)
	}
	s.log.Debug("S3 credentials given", "access", answer.Result.Credentials.AccessKeyID,
		"session", form.Get("RoleSessionName"), "expires", answer.Result.Credentials.Expiration)
	return s.send(c, http.StatusOK, answer)
}

// assumeRole makes temporary credentials of a form whose signature is good.
func (s *stsServer) assumeRole(form url.Values) (*assumeRoleResponse, *refusal) {
	if form.Get("Action") != "AssumeRole" || form.Get("Version") != stsVersion {
		return nil, &refusal{http.StatusBadRequest, "InvalidAction", "Only AssumeRole of version " + stsVersion + " is offered here."}
	}
	// minio-go sends neither a role nor a session name unless it is told to.
	arn, name := form.Get("RoleArn"), form.Get("RoleSessionName")
	if arn != "" && !s.arn.MatchString(arn) {
		return nil, invalidForm("RoleArn is not the ARN of a role. Any well-formed one will do, such as arn:aws:iam::000000000000:role/sluice.")
	}
	if name != "" && !s.session.MatchString(name) {
		return nil, invalidForm("RoleSessionName has 2 to 64 letters, digits and characters of _+=,.@-.")
	}
	life, bad := s.life(form.Get("DurationSeconds"))
	if bad != nil {
		return nil, bad
	}
	document := form.Get("Policy")
	switch {
	case document == "":
		return nil, invalidForm("A session Policy is required: credentials without one could do everything.")
	case len(document) > policy.MaxSessionPolicyBytes:
		return nil, &refusal{http.StatusBadRequest, "PackedPolicyTooLarge", "The session Policy is longer than 2048 bytes."}
	case policy.Parse(document) != nil:
		return nil, &refusal{http.StatusBadRequest, "MalformedPolicyDocument", "The session Policy is not an IAM policy document."}
	case form.Has("PolicyArns.member.1.arn"):
		return nil, invalidForm("Managed policies are not offered here. Send the Policy itself.")
	}
	access, expires := newAccessKey(), s.now().Add(life).UTC().Truncate(time.Second)
	who := "arn:aws:sts::000000000000:assumed-role/sluice/" + name
	token, err := s.vault.seal(access, session{ARN: who, Policy: document, Expires: expires.Unix()})
	if err != nil {
		s.log.Error("A session token could not be made.", "error", err)
		return nil, &refusal{http.StatusInternalServerError, "InternalFailure", "The request failed. Try again."}
	}
	out := &assumeRoleResponse{RequestID: uuid.NewString()}
	out.Result.User.Arn, out.Result.User.ID = who, access+":"+name
	out.Result.Credentials = stsCredentials{AccessKeyID: access, SecretAccessKey: s.vault.secretOf(access), SessionToken: token, Expiration: expires}
	return out, nil
}

// life reads DurationSeconds.
func (s *stsServer) life(text string) (time.Duration, *refusal) {
	if text == "" {
		return max(defaultSession, s.minSession), nil
	}
	seconds, err := strconv.Atoi(text)
	least, most := int(s.minSession.Seconds()), int(maxSession.Seconds())
	if err != nil || seconds < least || seconds > most {
		return 0, invalidForm("DurationSeconds is " + strconv.Itoa(least) + " to " + strconv.Itoa(most) + ".")
	}
	return time.Duration(seconds) * time.Second, nil
}

type stsCredentials struct {
	AccessKeyID     string `xml:"AccessKeyId"`
	SecretAccessKey string
	SessionToken    string
	Expiration      time.Time
}

type assumeRoleResponse struct {
	XMLName xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ AssumeRoleResponse"`
	Result  struct {
		User struct {
			Arn string
			ID  string `xml:"AssumedRoleId"`
		} `xml:"AssumedRoleUser"`
		Credentials stsCredentials
	} `xml:"AssumeRoleResult"`
	RequestID string `xml:"ResponseMetadata>RequestId"`
}

type stsErrorResponse struct {
	XMLName   xml.Name `xml:"https://sts.amazonaws.com/doc/2011-06-15/ ErrorResponse"`
	Type      string   `xml:"Error>Type"`
	Code      string   `xml:"Error>Code"`
	Message   string   `xml:"Error>Message"`
	RequestID string   `xml:"RequestId"`
}

func (s *stsServer) refuse(c fiber.Ctx, r *refusal) error {
	kind := "Sender"
	if r.status >= http.StatusInternalServerError {
		kind = "Receiver"
	}
	return s.send(c, r.status, stsErrorResponse{Type: kind, Code: r.code, Message: r.sentence, RequestID: uuid.NewString()})
}

func (s *stsServer) send(c fiber.Ctx, status int, document any) error {
	data, err := xml.Marshal(document)
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, "text/xml")
	return c.Status(status).Send(append([]byte(xml.Header), data...))
}
