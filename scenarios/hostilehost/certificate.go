package hostilehost

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"time"
)

// certificateAttacks are right hosts whose certificate is not to be trusted.
func certificateAttacks() []Attack {
	rightBehind := func(_ *Server, right http.Handler) http.Handler { return right }
	valid, expired := [2]int{-1, 24}, [2]int{-48, -24}
	return []Attack{
		{Name: "expired-certificate", Says: "a certificate that was trusted and has expired", Answer: rightBehind,
			Certificate: func() (tls.Certificate, []byte, error) { return certificate("127.0.0.1", expired, true) }},
		{Name: "self-signed-certificate", Says: "a certificate that nobody vouches for", Answer: rightBehind,
			Certificate: func() (tls.Certificate, []byte, error) { return certificate("127.0.0.1", valid, false) }},
		{Name: "wrong-name-certificate", Says: "a trusted certificate of another name", Answer: rightBehind,
			Certificate: func() (tls.Certificate, []byte, error) { return certificate("192.0.2.7", valid, true) }},
	}
}

// certificate makes one for an address, valid between two hours from now, and the PEM to trust it by where it is to be
// trusted.
func certificate(address string, hours [2]int, trusted bool) (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hostile"},
		NotBefore: time.Now().Add(time.Duration(hours[0]) * time.Hour), NotAfter: time.Now().Add(time.Duration(hours[1]) * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		IPAddresses: []net.IP{net.ParseIP(address)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("sign the certificate: %w", err)
	}
	var ca []byte
	if trusted {
		ca = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, ca, nil
}
