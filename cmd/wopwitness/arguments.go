package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wopwitness/wopwitness/reports/bundle"
	"github.com/wopwitness/wopwitness/scenarios/registry"
)

// noArguments refuses what stands on the command line without a flag in front of it. An address is most likely meant for
// the flag that is named.
func noArguments(flag string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		if flag != "" && strings.Contains(args[0], ":") {
			return fmt.Errorf("%s takes no argument %q: did you mean %s %s?", cmd.Name(), args[0], flag, args[0])
		}
		return fmt.Errorf("%s takes no argument %q: everything is said by flags, which %s --help lists", cmd.Name(), args[0], cmd.CommandPath())
	}
}

// arguments asks for exactly these arguments, by the names that the command's usage line has for them.
func arguments(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > len(names) {
			return fmt.Errorf("%s takes no argument %q besides %s: %s", cmd.Name(), args[len(names)], strings.Join(names, " and "), cmd.UseLine())
		}
		if missing := names[len(args):]; len(missing) > 0 {
			return fmt.Errorf("%s needs %s, which the command line doesn't give: %s", cmd.Name(), strings.Join(missing, " and "), cmd.UseLine())
		}
		return nil
	}
}

// badFlag words the refusal of a flag: of one whose value isn't of its form, what was given and what is expected.
func badFlag(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return unknownFlag(cmd, err)
	}
	name := "--" + invalid.GetFlag().Name
	var expected string
	switch invalid.GetFlag().Value.Type() {
	case "duration":
		expected = "a duration with its unit, as 500ms, 10s or 15m"
	case "int":
		expected = fmt.Sprintf("a whole number, as %s %s", name, invalid.GetFlag().DefValue)
	case "bool":
		expected = fmt.Sprintf("true or false, as %[1]s=true, which %[1]s alone says too", name)
	default:
		return err
	}
	return fmt.Errorf("%s %q: expected %s", name, invalid.GetValue(), expected)
}

// checkGiven refuses flags that are given and empty, as by a variable that was not set: without them less would be checked, in
// silence.
func checkGiven(flags *pflag.FlagSet, names ...string) error {
	for _, name := range names {
		if given := flags.Lookup(name); given.Changed && given.Value.String() == "" {
			return fmt.Errorf("--%s is empty: give a value (%s), or leave it out", name, given.Usage)
		}
	}
	return nil
}

// unknownFlag adds to the refusal of a flag the known ones that are nearest.
func unknownFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var known []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			known = append(known, "--"+f.Name)
		}
	})
	return fmt.Errorf("%w%s (%s --help lists them all)", err, registry.Nearest(unknown.GetSpecifiedName(), known), cmd.CommandPath())
}

// checkBaseURL refuses what is no base URL, before it is parsed as something else.
func checkBaseURL(flag, text string) error {
	if _, scheme := afterScheme(text); !scheme {
		return fmt.Errorf("%s %q: it must begin with http:// or https://, as http://127.0.0.1:8077", flag, text)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return fmt.Errorf("%s %q: it is no URL: %w", flag, text, errors.Unwrap(err))
	case u.Hostname() == "":
		return fmt.Errorf("%s %q: it names no host", flag, text)
	}
	return nil
}

// checkPeerURL refuses what is no base URL, and the host itself: one instance knows all that it did, so every requirement
// about two would pass in vain.
func checkPeerURL(peer, host string) error {
	if err := checkBaseURL("--peer-url", peer); err != nil {
		return err
	}
	if origin(peer) == origin(host) {
		return fmt.Errorf("--peer-url %q is the host itself (--host %q): give the address of another instance of it", peer, host)
	}
	return nil
}

// origin is where a base URL leads, in one spelling.
func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	scheme, name, port := strings.ToLower(u.Scheme), strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")), u.Port()
	if name == "localhost" || name == "::1" {
		name = "127.0.0.1"
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[scheme]
	}
	return scheme + "://" + net.JoinHostPort(name, port) + strings.TrimRight(u.Path, "/")
}

// checkForceExpire refuses an operator's means of expiring a run that no run could be expired with.
func checkForceExpire(address, method string) error {
	const name = "OPENWOP_TEST_FORCE_EXPIRE_URL"
	switch {
	case address != "" && !strings.Contains(address, "{runId}"):
		return errors.New(name + " has no {runId} in it: put it where the run's id belongs")
	case address == "" && method != "":
		return errors.New("OPENWOP_TEST_FORCE_EXPIRE_METHOD goes with " + name + ", which is not set")
	case strings.Trim(method, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "":
		return fmt.Errorf("OPENWOP_TEST_FORCE_EXPIRE_METHOD %q: expected an HTTP method in capitals, as POST or DELETE", method)
	case address == "":
		return nil
	}
	return checkBaseURL(name, address)
}

func afterScheme(text string) (rest string, ok bool) {
	for _, scheme := range []string{"http://", "https://"} {
		if len(text) >= len(scheme) && strings.EqualFold(text[:len(scheme)], scheme) {
			return text[len(scheme):], true
		}
	}
	return "", false
}

// parseBuild reads --build, and refuses an id that no thing of its kind can have: a certificate would bind nothing by it.
func parseBuild(text string) (bundle.Build, error) {
	build, err := bundle.ParseBuild(text)
	if err != nil {
		return build, err
	}
	id, most, least := build.ID, 64, 64
	wants := "64 hexadecimal digits"
	switch build.Kind {
	case "commit":
		least, wants = 7, "7 to 64 hexadecimal digits"
	case "image-digest":
		var sha bool
		if id, sha = strings.CutPrefix(id, "sha256:"); !sha {
			id = ""
		}
		wants = "sha256: and 64 hexadecimal digits"
	}
	if len(id) < least || len(id) > most || !isHex(id) {
		return build, fmt.Errorf("--build %q: after %s: there must be %s", text, build.Kind, wants)
	}
	return build, nil
}

func isHex(text string) bool {
	_, err := hex.DecodeString(text + strings.Repeat("0", len(text)%2))
	return err == nil
}

// rfcNumber is the number by which the registry knows the RFC that somebody names: 250, RFC-250 and "rfc 0250" are 0250.
func rfcNumber(text string) string {
	number := strings.TrimSpace(text)
	if len(number) >= 3 && strings.EqualFold(number[:3], "rfc") {
		number = strings.TrimLeft(number[3:], " -")
	}
	if number == "" || strings.Trim(number, "0123456789") != "" {
		return text
	}
	return strings.Repeat("0", max(0, 4-len(number))) + number
}
