import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, IconButton, isComposing } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

const typingMs = 250;

interface SearchProps {
  /** What the search finds. */
  readonly label: string;
  readonly words: string | undefined;
  readonly onChange: (words: string | undefined) => void;
}

/** A field that searches while a person types. */
export function Search({ label, words, onChange }: SearchProps): JSX.Element {
  const [typed, setTyped] = useState(words ?? "");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // An effect that runs after a paint could undo what a person has typed meanwhile.
  useLayoutEffect(() => {
    setTyped((before) => (before.trim() === (words ?? "") ? before : (words ?? "")));
  }, [words]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const type = (text: string): void => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onChange(text.trim() || undefined), typingMs);
  };
  return (
    <form class="search" role="search" onSubmit={(event) => event.preventDefault()}>
      <Icon name="search" />
      <input
        class="search-input"
        type="search"
        data-search
        aria-label={label}
        placeholder={label}
        dir="auto"
        maxLength={200}
        value={typed}
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape" || isComposing(event)) return;
          event.stopPropagation();
          type("");
          event.currentTarget.blur();
        }}
      />
      {typed !== "" && (
        <IconButton icon="close" isSmall label={t("searchClear")} onClick={() => type("")} />
      )}
    </form>
  );
}
