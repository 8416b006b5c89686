/** Who is signed in. */
import { computed, signal } from "@preact/signals";
import type { KeyScope, Mode, Problem } from "../../../../../src/index.ts";
import type { Texts } from "../texts/define-texts.ts";
import { text } from "../texts/shared-texts.ts";

/** The answer of `GET session`. */
export interface Session {
  /** The person who uses the page. */
  readonly operator: {
    readonly id: string;
    readonly name: string;
    readonly avatar_url?: string | null;
  };
  /** The account whose data the page shows. */
  readonly account_id: string;
  /** Whether the page shows sandbox or live data. */
  readonly mode: Mode;
  /** What the person may do. */
  readonly may: readonly KeyScope[];
  /** The newest event when the session was read. Null if there is none that the person may read. */
  readonly last_event_id: string | null;
  /** The origins that pictures of operators may come from, besides the page's own. */
  readonly avatar_origins?: readonly string[];
  /** The version of the package. */
  readonly version: string;
  /** The host application's texts, by key. */
  readonly texts?: Texts;
  /** The language of the page. Default: the browser's. */
  readonly locale?: string;
}

/** What the page knows about the session. */
export type SessionState =
  | { readonly status: "loading" }
  | { readonly status: "ready"; readonly session: Session }
  | {
      readonly status: "signed_out";
      /** The session that ended. Undefined if there was none. */
      readonly last: Session | undefined;
      /** How to sign in, or why the page refuses. */
      readonly detail: string;
      /** True if a token opens a session. */
      readonly takesToken: boolean;
    }
  | { readonly status: "failed"; readonly error: unknown };

export const sessionState = signal<SessionState>({ status: "loading" });

/** The session. While the person signs in again, it is the one that ended. */
export const currentSession = computed<Session | undefined>(() => {
  const state = sessionState.value;
  if (state.status === "ready") return state.session;
  return state.status === "signed_out" ? state.last : undefined;
});

/** Whether the person may do what needs the scope. */
export const may = (scope: KeyScope): boolean => currentSession.value?.may.includes(scope) === true;

/** Names a person with the account and mode, for the header `Tidings-Person`. */
export const personOf = ({ account_id, mode, operator }: Session): string =>
  encodeURIComponent(JSON.stringify([account_id, mode, operator.id]));

/** Shows the sign-in, after a 401 with this problem. */
export function endSession({ code, detail }: Partial<Problem>): void {
  sessionState.value = {
    status: "signed_out",
    last: currentSession.value,
    detail: detail ?? text("signedOutBody"),
    takesToken: String(code) === "missing_session",
  };
}
