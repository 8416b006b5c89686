/** Why the body of a request could not be read. */
import { TidingsError } from "../../src/kernel/index.ts";

export function endedEarly(): TidingsError {
  const message = "The connection closed before the end of the body.";
  return new TidingsError("malformed_request", message);
}

export function bodyTooLarge(limit: number): TidingsError {
  return new TidingsError("body_too_large", `The body is larger than ${limit} bytes.`);
}
