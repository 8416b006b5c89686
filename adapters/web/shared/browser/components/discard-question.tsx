import type { JSX } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { guardPlace } from "../router.ts";
import { text } from "../texts/shared-texts.ts";
import { Button } from "./button.tsx";

interface DiscardQuestionProps {
  readonly onKeep: () => void;
  readonly onDiscard: () => void;
}

/** Asks whether to discard what was entered, in the place of the buttons of the form. */
export function DiscardQuestion({ onKeep, onDiscard }: DiscardQuestionProps): JSX.Element {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  useLayoutEffect(() => button.current?.focus(), []);
  return (
    <div class="discard-question" role="group" aria-labelledby={id}>
      <p id={id} class="grow">
        {text("discardEntered")}
      </p>
      <Button buttonRef={button} onClick={onKeep}>
        {text("keepEditing")}
      </Button>
      <Button kind="danger" onClick={onDiscard}>
        {text("discard")}
      </Button>
    </div>
  );
}

interface Entered {
  readonly isAtRisk: () => boolean;
  /** Asks the person, who goes Back or follows a link. */
  readonly ask: () => void;
}

/** Asks before Back, Reload or a link discards what a person entered. */
export function useLeaveGuard(entered: Entered): void {
  const latest = useRef(entered);
  latest.current = entered;
  useLayoutEffect(() => {
    const endGuard = guardPlace(() => {
      const { isAtRisk, ask } = latest.current;
      if (!isAtRisk()) return false;
      ask();
      return true;
    });
    // The browser asks with its own words.
    const onUnload = (event: Event): void => {
      if (latest.current.isAtRisk()) event.preventDefault();
    };
    window.addEventListener("beforeunload", onUnload);
    return () => {
      endGuard();
      window.removeEventListener("beforeunload", onUnload);
    };
  }, []);
}
