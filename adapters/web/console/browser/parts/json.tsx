import type { JSX } from "preact";
import { CopyButton, firstCharacters, Icon } from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

const maxCharacters = 50_000;
const token =
  /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

interface JsonProps {
  readonly value: unknown;
  /** What it is, for screen readers. */
  readonly label: string;
}

/** A JSON value with its kinds of tokens in colors, and a button that copies it. */
export function Json({ value, label }: JsonProps): JSX.Element {
  return <Code label={label} text={JSON.stringify(value, null, 2) ?? ""} isJson />;
}

/** A resource as the API returns it, which is shown when a person asks for it. */
export function AsJson({ value }: { readonly value: unknown }): JSX.Element {
  return (
    <details class="raw">
      <summary>
        <Icon name="code" /> {t("messageRaw")}
      </summary>
      <Json value={value} label={t("messageRaw")} />
    </details>
  );
}

interface CodeProps {
  readonly text: string;
  readonly label: string;
  readonly isJson?: boolean;
}

/** A text of programs. A text that is too long to read is cut. */
export function Code({ text, label, isJson }: CodeProps): JSX.Element {
  const shown = firstCharacters(text, maxCharacters);
  return (
    <div class="code">
      <pre tabIndex={0} role="region" aria-label={label} dir="ltr">
        <code>{isJson === true ? colored(shown) : shown}</code>
        {shown.length < text.length && (
          <em class="muted">{t("codeCut", { count: maxCharacters })}</em>
        )}
      </pre>
      <CopyButton value={text} label={t("copyNamed", { name: label })} />
    </div>
  );
}

function colored(text: string): (string | JSX.Element)[] {
  const parts: (string | JSX.Element)[] = [];
  let end = 0;
  for (const match of text.matchAll(token)) {
    const [whole, quoted, colon] = match;
    const kind = quoted === undefined ? "value" : colon === undefined ? "string" : "name";
    const shown = quoted ?? whole;
    parts.push(
      text.slice(end, match.index),
      <span key={match.index} class={`code-${kind}`}>
        {shown}
      </span>,
    );
    end = match.index + shown.length;
  }
  parts.push(text.slice(end));
  return parts;
}
