/** Reads the session, and opens one. */
import { setLanguage } from "../texts/language.ts";
import { api } from "./http.ts";
import { ApiError } from "./problem.ts";
import { announceReconnect, probeWith } from "./reachability.ts";
import { Repetition } from "./repetition.ts";
import { currentSession, personOf, sessionState, type Session } from "./session.ts";

const repetition = new Repetition();

/** Reads who is signed in. Repeats that after a pause if the server cannot answer for now. */
export async function loadSession(): Promise<void> {
  try {
    const found = await api.get<Session>("session");
    repetition.noteSuccess();
    const known = currentSession.peek();
    if (known !== undefined && personOf(known) !== personOf(found)) {
      // The page has data and drafts of the other person.
      location.reload();
      return;
    }
    const isSignedInAgain = known !== undefined && sessionState.peek().status === "signed_out";
    setLanguage(found);
    sessionState.value = { status: "ready", session: found };
    if (isSignedInAgain) announceReconnect("session");
  } catch (error) {
    // A 401 has shown the sign-in already.
    if (error instanceof ApiError && error.status === 401) return;
    if (currentSession.value !== undefined) return;
    sessionState.value = { status: "failed", error };
    repetition.noteFailure(error, () => void loadSession());
  }
}

probeWith(loadSession);

/** Opens a session with the token that the server printed. */
export async function signIn(token: string): Promise<void> {
  await api.post<undefined>("session", { token });
  await loadSession();
}
