/** What the pages and the chat widget read of their engine and of their requests. */
import { type Exchange, headerOf, RequestHandler } from "../../../../src/api/index.ts";
import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
  TidingsError,
} from "../../../../src/kernel/index.ts";

/** The advice on an engine of another copy of the package, as bundlers make them. */
const loadOnce =
  " of another copy of tidings. Load the package once: leave it out of the bundle of your server.";

const engineSchema = optionsObject({
  engine: option<{ readonly api: RequestHandler }>(
    "a MessagingEngine",
    (engine) => memberOf(engine, "api") instanceof RequestHandler,
    { advice: (engine) => (hasMethods(memberOf(engine, "api"), "handle") ? loadOnce : "") },
  ),
});

/**
 * Returns the API of an engine. `subject` is the function that got it.
 * @throws TidingsError `invalid_option` when it is no engine
 */
export function apiOf(subject: string, engine: object): RequestHandler {
  return parseOptions(`${subject}: `, engineSchema, { engine }).engine.api;
}

/** @throws TidingsError `method_not_allowed` */
export function allowOnly(methods: readonly string[], { request, headers }: Exchange): void {
  if (methods.includes(request.method)) return;
  headers["Allow"] = methods.join(", ");
  throw new TidingsError("method_not_allowed", `This path accepts only ${headers["Allow"]}.`);
}

/**
 * Returns the port in the address of a request. Browsers share cookies between the ports of a host,
 * so a cookie has the port in its name.
 */
export function portOf(headers: readonly string[]): string | undefined {
  return /:(\d{1,5})$/.exec(headerOf(headers, "host") ?? "")?.[1];
}

/** Returns the values of all cookies with a name, in the order of the header. */
export function cookiesOf(headers: readonly string[], name: string): readonly string[] {
  const pairs = (headerOf(headers, "cookie") ?? "").split(/[;,]/).map((pair) => pair.trim());
  return pairs
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
}
