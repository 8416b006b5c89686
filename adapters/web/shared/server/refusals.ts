/** Refuses requests whose method or path a page or the chat widget does not have. */
import type { ApiRequest, Exchange } from "../../../../src/api/index.ts";
import { TidingsError } from "../../../../src/kernel/index.ts";

/** @throws TidingsError `method_not_allowed` */
export function allowOnly(methods: readonly string[], { request, headers }: Exchange): void {
  if (methods.includes(request.method)) return;
  headers["Allow"] = methods.join(", ");
  throw new TidingsError("method_not_allowed", `This path accepts only ${headers["Allow"]}.`);
}

const maxQuotedPath = 200;

/** The error for a path that `owner` does not have. `advice` names paths that it has. */
export function noSuchPath({ url }: ApiRequest, owner: string, advice: string): TidingsError {
  const [path = ""] = url.split("?");
  const quoted = path.slice(0, maxQuotedPath);
  return new TidingsError("not_found", `${owner} has no path ${quoted}. ${advice}`);
}
