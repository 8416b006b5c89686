/** Whether the server answers, and who is signed in. */
import { computed, signal } from "@preact/signals";
import type { KeyScope, Mode } from "../../../../src/index.ts";
import type { Texts } from "./texts.ts";

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

export const session = signal<SessionState>({ status: "loading" });

/** The session, also while the person signs in again. */
export const current = computed<Session | undefined>(() => {
  const state = session.value;
  if (state.status === "ready") return state.session;
  return state.status === "signed_out" ? state.last : undefined;
});

/** Whether the person may do what needs the scope. */
export const may = (scope: KeyScope): boolean => current.value?.may.includes(scope) === true;

/** When the page tries to reach the server again, in ms since 1970; null while it answers. */
export const offlineUntil = signal<number | null>(null);

/** Why requests succeed again: the server answers again, or the person has signed in again. */
export type ReconnectReason = "server" | "session";

type ReconnectListener = (reason: ReconnectReason) => void;

const whenBack = new Set<ReconnectListener>();

/** Calls `listener` each time requests succeed again. Returns a function that ends it. */
export function onReconnect(listener: ReconnectListener): () => void {
  whenBack.add(listener);
  return () => whenBack.delete(listener);
}

export function announceReconnect(reason: ReconnectReason): void {
  for (const listener of whenBack) listener(reason);
}
