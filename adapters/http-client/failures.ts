import type { HttpFailure, HttpFailureCode, HttpPhase } from "../../src/ports/http-client.ts";

/** A way to fail that has its code already. */
export class Failure extends Error {
  readonly code: HttpFailureCode;

  constructor(code: HttpFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** What nothing was sent or heard of. */
export function failed({ code, message }: Failure): HttpFailure {
  return { outcome: "failed", code, message, sent: false, address: null, partial: null };
}

const connecting: Readonly<Record<string, HttpFailureCode>> = {
  ECONNREFUSED: "connect_refused",
  EHOSTUNREACH: "connect_unreachable",
  ENETUNREACH: "connect_unreachable",
  EADDRNOTAVAIL: "connect_unreachable",
  // The system's own limit, where the deadline is longer.
  ETIMEDOUT: "connect_timeout",
};

/** Of OpenSSL's verification: https://docs.openssl.org/3.0/man1/openssl-verification-options/, as Node names them. */
const certificates: Readonly<Record<string, HttpFailureCode>> = {
  CERT_HAS_EXPIRED: "tls_expired",
  CERT_NOT_YET_VALID: "tls_not_yet_valid",
  DEPTH_ZERO_SELF_SIGNED_CERT: "tls_self_signed",
  CERT_SIGNATURE_FAILURE: "tls_untrusted",
  SELF_SIGNED_CERT_IN_CHAIN: "tls_untrusted",
  UNABLE_TO_GET_ISSUER_CERT: "tls_untrusted",
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: "tls_untrusted",
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: "tls_untrusted",
  ERR_TLS_CERT_ALTNAME_INVALID: "tls_wrong_name",
};

/** What an error of Node's means at that point of an exchange. */
export function failureOf(error: NodeJS.ErrnoException, phase: HttpPhase): Failure {
  if (error instanceof Failure) return error;
  const { code = "" } = error;
  const name = codeOf(error, code, phase);
  return new Failure(name, `${sentences[phase]} (${code === "" ? "no code" : code}).`);
}

function codeOf(error: NodeJS.ErrnoException, code: string, phase: HttpPhase): HttpFailureCode {
  if (code === "HPE_HEADER_OVERFLOW") return "response_headers_too_large";
  if (code.startsWith("HPE_")) return "response_malformed";
  if (phase === "dns") return "dns_failed";
  const known = phase === "connect" ? connecting[code] : certificates[code];
  if (known !== undefined) return known;
  // Node says ECONNRESET of both; only what the system said has a system call.
  if (code === "ECONNRESET" && error.syscall === undefined) return `${phase}_closed`;
  if (code === "ECONNRESET" || code === "EPIPE") return `${phase}_reset`;
  if (phase === "connect") return "connect_failed";
  return phase === "tls" || code.startsWith("ERR_SSL_") || code === "EPROTO"
    ? "tls_failed"
    : `${phase}_reset`;
}

const sentences: Readonly<Record<HttpPhase, string>> = {
  dns: "The host's name could not be looked up",
  connect: "No connection came about",
  tls: "The TLS handshake failed",
  request: "The connection broke while the request was written",
  response: "The connection broke, or what came was no HTTP, before the response",
  body: "The response broke off, or was no HTTP, before its end",
};

/** The deadline passed while an exchange was at that. */
export function timeout(phase: HttpPhase): Failure {
  return new Failure(`${phase}_timeout`, `The time was up ${waits[phase]}.`);
}

const waits: Readonly<Record<HttpPhase, string>> = {
  dns: "while the host's name was looked up",
  connect: "before a connection came about",
  tls: "in the TLS handshake",
  request: "while the request was written",
  response: "before the response",
  body: "before the response's end",
};
