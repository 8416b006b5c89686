/** Who uses a page. The host application's `authorize` decides, or the sign-in of this machine. */
import {
  headerOf,
  type ApiRequest,
  type OperatorAccess,
  type RequestHandler,
} from "../../../../src/api/index.ts";
import { headersByName, TidingsError, withDeadline } from "../../../../src/kernel/index.ts";
import { LocalAccess, refuseRemote } from "./local-access.ts";
import {
  parseAccess,
  type Authorize,
  type CheckedAccess,
  type PageAccess,
  type PageRequest,
} from "./options.ts";

/** How long `authorize` may take, in milliseconds. */
const maxAuthorizeMs = 10_000;

/** The access of people to one page. */
export class AccessControl {
  /** The sign-in of this machine. Undefined if the host application decides. */
  readonly local: LocalAccess | undefined;
  readonly #clock: RequestHandler["ports"]["clock"];
  readonly #subject: string;
  readonly #authorize: Authorize | undefined;

  constructor(api: RequestHandler, subject: string, authorize: Authorize | undefined) {
    this.#clock = api.ports.clock;
    this.#subject = subject;
    this.#authorize = authorize;
    this.local = authorize === undefined ? LocalAccess.of(api) : undefined;
  }

  /**
   * Refuses a request from another machine, unless the host application decides by `authorize`.
   * @throws TidingsError `local_only`
   */
  refuseRemote(request: ApiRequest): void {
    if (this.local !== undefined) refuseRemote(request, this.#subject);
  }

  /**
   * Returns the person who sends a request, and the person's rights.
   * @throws TidingsError `missing_session`, `not_signed_in`, `overloaded`
   * @throws the errors of `authorize`
   */
  async accessOf(request: ApiRequest): Promise<OperatorAccess> {
    const access = await this.#find(request);
    if (access !== null) {
      refuseOtherPerson(request, access);
      return access;
    }
    if (this.local === undefined) {
      throw new TidingsError(
        "not_signed_in",
        "Sign in to the application that this page belongs to, then open the page again. If you " +
          "are signed in already, you have no access to this page.",
      );
    }
    throw new TidingsError(
      "missing_session",
      "Enter the token that the server printed when it started. To let people in by the sign-in " +
        `of your application, set authorize: ${this.#subject}(engine, { authorize }).`,
    );
  }

  async #find(request: ApiRequest): Promise<OperatorAccess | null> {
    const found =
      this.#authorize === undefined
        ? (this.local?.accessOf(request) ?? null)
        : await this.#askHost(this.#authorize, request);
    if (found === null) return null;
    const { account_id, mode, operator, may } = found;
    return { scope: { account_id, mode }, operator, may, renew: () => this.#find(request) };
  }

  async #askHost(authorize: Authorize, request: ApiRequest): Promise<CheckedAccess | null> {
    const { method, url, headers, remoteAddress, original } = request;
    const shown: PageRequest = {
      method,
      url,
      headers: headersByName(headers),
      remoteAddress,
      original,
    };
    const ask = async (): Promise<PageAccess | null> => authorize(shown);
    const access = await withDeadline(this.#clock, maxAuthorizeMs, ask, refuseSlowAuthorize);
    return access === null ? null : parseAccess(this.#subject, access);
  }
}

function refuseSlowAuthorize(): never {
  throw new TidingsError(
    "overloaded",
    `authorize did not answer within ${maxAuthorizeMs / 1_000} seconds.`,
    { detail: "The application took too long to find out who you are. Try again." },
  );
}

/**
 * Refuses a request of a page that shows another person or account than the application has signed
 * in. All tabs share the cookie, so a sign-in in another tab does this. `personOf` in the browser
 * makes the header.
 * @throws TidingsError `not_signed_in`
 */
function refuseOtherPerson({ headers }: ApiRequest, { scope, operator }: OperatorAccess): void {
  const shown = headerOf(headers, "tidings-person");
  const person = encodeURIComponent(JSON.stringify([scope.account_id, scope.mode, operator.id]));
  if (shown === undefined || shown === person) return;
  throw new TidingsError(
    "not_signed_in",
    "Your application has signed in another person, or shows another account. Try again: the " +
      "page then loads for that person or account.",
  );
}
