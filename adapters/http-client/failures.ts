import type { HttpFailure, HttpFailureCode, HttpPhase } from "../../src/ports/index.ts";

/** An error that carries the failure code to report. */
export class Failure extends Error {
  readonly code: HttpFailureCode;

  constructor(code: HttpFailureCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns the outcome of a request that failed before anything was sent. */
export function failed({ code, message }: Failure): HttpFailure {
  return { outcome: "failed", code, message, sent: false, address: null, partial: null };
}

const connectCodes: Readonly<Record<string, HttpFailureCode>> = {
  ECONNREFUSED: "connect_refused",
  EHOSTUNREACH: "connect_unreachable",
  ENETUNREACH: "connect_unreachable",
  EADDRNOTAVAIL: "connect_unreachable",
  // The operating system's own limit, when it is shorter than the deadline.
  ETIMEDOUT: "connect_timeout",
};

/**
 * Codes of OpenSSL's certificate verification, as Node names them
 * (https://docs.openssl.org/3.0/man1/openssl-verification-options/).
 */
const certificateCodes: Readonly<Record<string, HttpFailureCode>> = {
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

/** Converts an error of Node to a failure, given the phase in which it occurred. */
export function failureOf(error: NodeJS.ErrnoException, phase: HttpPhase): Failure {
  if (error instanceof Failure) return error;
  const { code = "" } = error;
  const name = codeOf(error, code, phase);
  return new Failure(name, `${failureMessages[phase]} (${code === "" ? "no code" : code}).`);
}

function codeOf(error: NodeJS.ErrnoException, code: string, phase: HttpPhase): HttpFailureCode {
  if (code === "HPE_HEADER_OVERFLOW") return "response_headers_too_large";
  if (code.startsWith("HPE_")) return "response_malformed";
  if (phase === "dns") return "dns_failed";
  const known = phase === "connect" ? connectCodes[code] : certificateCodes[code];
  if (known !== undefined) return known;
  // Node reports ECONNRESET for a reset and for an early close. Only a reset, which comes from the
  // operating system, has a system call.
  if (code === "ECONNRESET" && error.syscall === undefined) return `${phase}_closed`;
  if (code === "ECONNRESET" || code === "EPIPE") return `${phase}_reset`;
  if (phase === "connect") return "connect_failed";
  return phase === "tls" || code.startsWith("ERR_SSL_") || code === "EPROTO"
    ? "tls_failed"
    : `${phase}_reset`;
}

const failureMessages: Readonly<Record<HttpPhase, string>> = {
  dns: "The host name could not be resolved",
  connect: "The connection could not be established",
  tls: "The TLS handshake failed",
  request: "The connection broke while the request was being written",
  response: "The connection broke, or the server sent invalid HTTP, before a response arrived",
  body: "The response broke off, or was invalid HTTP, before its end",
};

/** Returns the failure of an exchange whose deadline passed in `phase`. */
export function timeout(phase: HttpPhase): Failure {
  return new Failure(`${phase}_timeout`, `The deadline passed ${timeoutPhases[phase]}.`);
}

const timeoutPhases: Readonly<Record<HttpPhase, string>> = {
  dns: "while the host name was being resolved",
  connect: "before the connection was established",
  tls: "during the TLS handshake",
  request: "while the request was being written",
  response: "before a response arrived",
  body: "before the end of the response",
};
