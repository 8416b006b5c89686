import type { JSX } from "preact";
import type { EventPattern } from "../../../../../src/index.ts";
import { Checkbox } from "../../../shared/browser/index.ts";
import { eventPatterns } from "../reference/document.ts";
import { t } from "../texts.ts";

interface EventChoiceProps {
  readonly chosen: readonly EventPattern[];
  readonly onChange: (chosen: readonly EventPattern[]) => void;
}

/** Chooses the events of an endpoint: all, all of a kind, or single types. */
export function EventChoice({ chosen, onChange }: EventChoiceProps): JSX.Element {
  const isAll = chosen.includes("*");
  const patterns = isAll ? [] : offered(chosen);
  const toggle = (pattern: EventPattern): void => {
    const others = chosen.filter((each) => each !== pattern);
    onChange(others.length === chosen.length ? [...chosen, pattern] : others);
  };
  return (
    <fieldset class="choice-grid">
      <legend class="field-label">{t("columnEvents")}</legend>
      <span class="choice-grid-row">
        <Checkbox label={t("webhookAllEvents")} checked={isAll} onChange={() => toggle("*")} />
      </span>
      {patterns.map((pattern) => {
        const isCovered = isCoveredBy(chosen, pattern);
        const isOfKind = patterns.some((kind) => isKind(kind) && covers(kind, pattern));
        const place = isKind(pattern) ? "choice-grid-row" : isOfKind ? "choice-grid-inner" : "";
        return (
          <span key={pattern} class={place}>
            <Checkbox
              label={<code>{pattern}</code>}
              checked={isCovered || chosen.includes(pattern)}
              disabled={isCovered}
              onChange={() => toggle(pattern)}
            />
          </span>
        );
      })}
    </fieldset>
  );
}

/**
 * Leaves out patterns that another pattern covers. The form keeps them, in case the person
 * deselects that one.
 */
export const withoutCovered = (chosen: readonly EventPattern[]): EventPattern[] =>
  chosen.filter((pattern) => !isCoveredBy(chosen, pattern));

const isCoveredBy = (chosen: readonly string[], pattern: string): boolean =>
  chosen.some((each) => each !== pattern && covers(each, pattern));

const covers = (wide: string, narrow: string): boolean =>
  wide.endsWith("*") && narrow.startsWith(wide.slice(0, -1));

const isKind = (pattern: string): boolean => pattern.endsWith(".*");

/**
 * The patterns to choose from. A kind with one type is offered only if the endpoint has it, because
 * it matches nothing but that type.
 */
function offered(chosen: readonly EventPattern[]): readonly EventPattern[] {
  // The endpoint's own patterns are known before the document is loaded.
  const known = [...new Set([...eventPatterns(), ...chosen])].filter((each) => each !== "*");
  const typesOf = (kind: string): readonly string[] =>
    known.filter((each) => !isKind(each) && covers(kind, each));
  return known.filter((each) => !isKind(each) || chosen.includes(each) || typesOf(each).length > 1);
}
