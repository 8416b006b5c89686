/** The engine that a page or the chat widget is made for. */
import { RequestHandler } from "../../../../src/api/index.ts";
import {
  hasMethods,
  memberOf,
  option,
  optionsObject,
  parseOptions,
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
 * Returns the API of an engine. `subject` is the function that got the engine, for the error.
 * @throws TidingsError `invalid_option` when it is no engine
 */
export function apiOf(subject: string, engine: object): RequestHandler {
  return parseOptions(`${subject}: `, engineSchema, { engine }).engine.api;
}
