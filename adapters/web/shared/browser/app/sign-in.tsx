import type { JSX } from "preact";
import { useEffect, useId, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { useModal } from "../components/dialog.tsx";
import { TextField } from "../components/field.tsx";
import { explain } from "../connection/problem.ts";
import { sessionState } from "../connection/session.ts";
import { loadSession, signIn } from "../connection/sign-in.ts";
import { text } from "../texts/shared-texts.ts";
import { Brand } from "./brand.tsx";

interface SignInProps {
  /** Returns what people call the page. */
  readonly nameOf: () => string;
}

/** Covers the page, and each dialog that is open in it, until the person has signed in. */
export function SignIn({ nameOf }: SignInProps): JSX.Element | null {
  const state = sessionState.value;
  const [token, setToken] = useState("");
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const dialog = useModal();
  const id = useId();
  useEffect(() => {
    // The person has signed in to the application in another tab, and comes back.
    const check = (): void => void loadSession();
    window.addEventListener("focus", check);
    return () => window.removeEventListener("focus", check);
  }, []);
  if (state.status !== "signed_out") return null;
  const submit = async (): Promise<void> => {
    setBusy(true);
    try {
      await signIn(token.trim());
    } catch (error) {
      setProblem(explain(error));
    } finally {
      setBusy(false);
    }
  };
  const retry = async (): Promise<void> => {
    setBusy(true);
    await loadSession();
    setBusy(false);
  };
  return (
    <dialog
      ref={dialog}
      class="sign-in"
      aria-labelledby={id}
      onCancel={(event) => event.preventDefault()}
      // On a second Escape, browsers close a dialog even if `cancel` was prevented.
      onClose={() => dialog.current?.showModal()}
    >
      <form
        class="sign-in-card"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <Brand>{nameOf()}</Brand>
        <h1 id={id}>{text("signInTitle")}</h1>
        {state.last !== undefined && <p>{text("signInAgain")}</p>}
        <p class="muted">{state.takesToken ? text("signInBody") : state.detail}</p>
        {state.takesToken ? (
          <>
            <TextField
              label={text("signInToken")}
              type="password"
              autocomplete="current-password"
              spellcheck={false}
              required
              value={token}
              problem={problem}
              onChange={setToken}
            />
            <Button kind="primary" type="submit" isBusy={isBusy} disabled={token.trim() === ""}>
              {text("signInButton")}
            </Button>
            <details class="muted">
              <summary>{text("moreOptions")}</summary>
              {state.detail}
            </details>
          </>
        ) : (
          <Button icon="refresh" isBusy={isBusy} onClick={() => void retry()}>
            {text("retry")}
          </Button>
        )}
      </form>
    </dialog>
  );
}
