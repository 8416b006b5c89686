/**
 * Checks what a transport returns or passes to the engine, before anything of it is used.
 * Otherwise a mistake in a transport would be stored, or would fail later with an error that does
 * not name the transport. An error tells the type of a wrong value, and what is wrong with an id.
 * It quotes only what resembles an outcome, a status or a channel, because anything else may be
 * personal data.
 */
import {
  alternatives,
  channels,
  describe,
  kindOf,
  memberOf,
  nearestName,
  quoted,
} from "../kernel/index.ts";
import type { CallbackResult, LookupAnswer, SendAnswer } from "../ports/index.ts";

/** The maximum length of a carrier's id, in characters. Databases limit what an index can hold. */
const maxIdLength = 500;

/** @throws TypeError if a transport's `send` returned a wrong form */
export function checkSendAnswer(transport: string, answer: unknown): asserts answer is SendAnswer {
  const at = `transport ${transport}: send returned`;
  const outcome = checkWord(answer, "outcome", ["accepted", "rejected", "ambiguous"], at);
  if (outcome === "accepted") checkId(answer, "provider_message_id", at);
  else checkError(answer, at);
  // A wrong `retry_after_ms` counts as none: it is certain that the carrier refused the message.
  if (outcome === "rejected") checkType(answer, "permanent", "boolean", at);
}

/** @throws TypeError if a transport's `lookup` returned a wrong form */
export function checkLookupAnswer(
  transport: string,
  answer: unknown,
): asserts answer is LookupAnswer {
  const at = `transport ${transport}: lookup returned`;
  const outcome = checkWord(answer, "outcome", ["sent", "alike", "not_sent", "unknown"], at);
  const messages = outcome === "alike" ? checkList(answer, "messages", at) : [answer];
  if (outcome === "not_sent" || outcome === "unknown") return;
  for (const message of messages) {
    checkId(message, "provider_message_id", at);
    for (const receipt of checkList(message, "receipts", at)) checkReport(receipt, at);
  }
}

/** @throws TypeError if a transport's `parseCallback` returned a wrong form */
export function checkCallbackResult(
  transport: string,
  result: unknown,
): asserts result is CallbackResult {
  const at = `transport ${transport}: parseCallback returned`;
  for (const reported of checkList(result, "receipts", at)) {
    checkReportedReceipt(memberOf(reported, "subject"), memberOf(reported, "receipt"), at);
  }
  for (const message of checkList(result, "inbound", at)) checkInboundMessage(message, at);
  checkCallbackResponse(memberOf(result, "response"), at);
}

/** @throws TypeError if a transport passed a wrong form to `receipt` of its sink */
export function checkReceipt(transport: string, subject: unknown, receipt: unknown): void {
  checkReportedReceipt(subject, receipt, `transport ${transport}: sink.receipt got`);
}

/** @throws TypeError if a transport passed a wrong form to `inbound` of its sink */
export function checkInbound(transport: string, message: unknown): void {
  checkInboundMessage(message, `transport ${transport}: sink.inbound got`);
}

function checkReportedReceipt(subject: unknown, receipt: unknown, at: string): void {
  if (typeof subject !== "object" || subject === null) {
    throw unexpected(at, "subject", "an object", kindOf(subject));
  }
  for (const name of ["provider_message_id", "attempt_id"]) {
    const value = memberOf(subject, name);
    // A transport whose carrier tells only one of the two may pass null or "" for the other.
    if (!isNothing(value) && value !== "") checkId(subject, name, at);
  }
  checkReport(receipt, at);
}

function checkReport(receipt: unknown, at: string): void {
  checkWord(receipt, "status", ["sent", "delivered", "undelivered", "read"], at);
  if (!isNothing(memberOf(receipt, "error"))) checkError(receipt, at);
}

function checkInboundMessage(message: unknown, at: string): void {
  checkId(message, "provider_message_id", at);
  checkWord(message, "channel", channels, at);
  for (const name of ["from", "to", "body"]) checkType(message, name, "string", at);
  for (const file of checkList(message, "media", at)) {
    checkType(file, "url", "string", at);
    checkOptional(file, "content_type", "string", at);
  }
  if (isNothing(memberOf(message, "keyword"))) return;
  checkWord(message, "keyword", ["opt_out", "opt_in", "help"], at);
}

function checkCallbackResponse(response: unknown, at: string): void {
  const status = memberOf(response, "status");
  if (!Number.isInteger(status) || Number(status) < 200 || Number(status) > 599) {
    throw unexpected(at, "response.status", "a whole number from 200 to 599", describe(status));
  }
  const body = memberOf(response, "body");
  if (!isNothing(body) && typeof body !== "string") {
    throw unexpected(at, "response.body", "a string", kindOf(body));
  }
  const contentType = memberOf(response, "content_type");
  // Servers refuse a header with any other character, after the callback has been recorded.
  const isHeader = typeof contentType === "string" && /^[ -~]*$/.test(contentType);
  if (isHeader || isNothing(contentType)) return;
  const expected = "a string of printable ASCII characters";
  throw unexpected(at, "response.content_type", expected, kindOf(contentType));
}

/** Checks the `error` of an answer or a receipt. An unknown code counts as `unknown`. */
function checkError(of: unknown, at: string): void {
  const found = memberOf(of, "error");
  for (const name of ["code", "message"]) checkType(found, name, "string", `${at} error with`);
  checkOptional(found, "provider_code", "string", `${at} error with`);
}

const isNothing = (value: unknown): boolean => value === undefined || value === null;

/** Returns a field that must be one of some words. */
function checkWord<W extends string>(
  of: unknown,
  name: string,
  words: readonly W[],
  at: string,
): W {
  const value = memberOf(of, name);
  const found = words.find((each) => each === value);
  if (found !== undefined) return found;
  const got =
    typeof value === "string" && nearestName(value, words) ? quoted(value) : kindOf(value);
  throw unexpected(at, name, alternatives(words), got);
}

function checkId(of: unknown, name: string, at: string): void {
  const got = wrongId(memberOf(of, name));
  if (got === undefined) return;
  throw unexpected(at, name, `a string of 1 to ${maxIdLength} characters`, got);
}

/** Describes a value that is no id. Returns undefined if it is one. */
function wrongId(value: unknown): string | undefined {
  if (typeof value !== "string") return kindOf(value);
  if (value === "" || value.length > maxIdLength) return `a string of ${value.length} characters`;
  if (value.includes("\0")) return "a string with a NUL character";
  return value.isWellFormed() ? undefined : "a string with half a surrogate pair";
}

type Kind = "string" | "number" | "boolean";

function checkType(of: unknown, name: string, expected: Kind, at: string): void {
  const value = memberOf(of, name);
  if (typeof value !== expected) throw unexpected(at, name, `a ${expected}`, kindOf(value));
}

/** Checks a field that may be missing or null. */
function checkOptional(of: unknown, name: string, expected: Kind, at: string): void {
  if (!isNothing(memberOf(of, name))) checkType(of, name, expected, at);
}

function checkList(of: unknown, name: string, at: string): readonly unknown[] {
  const value = memberOf(of, name);
  if (Array.isArray(value)) return value;
  throw unexpected(at, name, "a list", kindOf(value));
}

function unexpected(at: string, name: string, expected: string, got: string): TypeError {
  return new TypeError(`${at} ${name}: expected ${expected}, got ${got}`);
}
