import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { SandboxNumber, SandboxNumbers } from "../../../../../src/index.ts";
import {
  api,
  Button,
  currentSession,
  EmptyState,
  Icon,
  isNumber,
  LoadState,
  numberTyped,
  Picker,
  recall,
  remember,
  Resource,
  shownAddress,
} from "../../../shared/browser/index.ts";
import { useLive } from "../live.ts";
import { PageView } from "../parts/layout.tsx";
import { t } from "../texts.ts";
import { HandsetView } from "./handset-view.tsx";
import { Handset } from "./handset.ts";

const maxHandsets = 12;
/** The phones of a person who has chosen none. */
const firstNumbers = ["+15005550001", "+15005550015"];

/** The open phones. They outlive the page, so that they are shown at once when a person returns. */
const handsets = signal<readonly Handset[] | undefined>(undefined);
const testNumbers = new Resource<SandboxNumbers>((stop) =>
  api.get("v1/sandbox/numbers", { signal: stop }),
);

/** Where this browser stores the numbers of the phones. */
const storageKey = (): string => `console-phones:${currentSession.peek()?.account_id}`;

function setHandsets(next: readonly Handset[]): void {
  handsets.value = next;
  remember(storageKey(), next.map(({ number }) => number).join(" "));
}

function open(number: string): void {
  const shown = handsets.peek() ?? [];
  if (shown.some((each) => each.number === number)) return;
  const added = new Handset(number);
  added.refresh();
  setHandsets([added, ...shown].slice(0, maxHandsets));
}

const close = (number: string): void =>
  setHandsets((handsets.peek() ?? []).filter((each) => each.number !== number));

/** Phones on screen, which text with the account in its sandbox. */
export function PhonesPage(): JSX.Element {
  useEffect(() => {
    if (currentSession.peek()?.mode !== "sandbox") return;
    void testNumbers.reload();
    const known = recall(storageKey())?.split(" ").filter(isNumber);
    handsets.value ??= (known ?? firstNumbers)
      .slice(0, maxHandsets)
      .map((each) => new Handset(each));
    for (const each of handsets.peek() ?? []) each.refresh();
  }, []);
  useLive({
    onEvent: (event) => handsets.peek()?.forEach((each) => each.observe(event)),
    onGap: () => handsets.peek()?.forEach((each) => each.refresh()),
  });
  if (currentSession.value?.mode !== "sandbox") {
    return (
      <PageView title={t("phones")}>
        <EmptyState icon="phone" title={t("phonesLive")}>
          {t("phonesLiveHint")}
        </EmptyState>
      </PageView>
    );
  }
  const behaviors = new Map(
    testNumbers.data?.data.map(({ number, behavior }) => [number, behavior]),
  );
  return (
    <PageView title={t("phones")} about={t("phonesAbout")} actions={<AddPhone />} isFull>
      <div class="phones">
        <TestNumbers />
        <div class="handsets">
          {handsets.value?.map((handset) => (
            <HandsetView
              key={handset.number}
              handset={handset}
              behavior={behaviors.get(handset.number) ?? t("phoneAnyNumber")}
              onClose={() => close(handset.number)}
            />
          ))}
          {handsets.value?.length === 0 && (
            <EmptyState icon="phone" title={t("phonesNone")}>
              {t("phonesNoneHint")}
            </EmptyState>
          )}
        </div>
      </div>
    </PageView>
  );
}

/** Adds one of the test numbers, or any other number that is typed. */
function AddPhone(): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const anchor = useRef<HTMLButtonElement>(null);
  const shown = new Set(handsets.value?.map(({ number }) => number));
  return (
    <>
      <Button kind="primary" icon="plus" buttonRef={anchor} onClick={() => setOpen(!isOpen)}>
        {t("phoneAdd")}
      </Button>
      {isOpen && (
        <Picker
          anchor={anchor}
          label={t("phoneNumber")}
          options={(testNumbers.data?.data ?? []).map(({ number, behavior }) => ({
            id: number,
            label: shownAddress(number),
            hint: behavior,
            isChosen: shown.has(number),
          }))}
          propose={(typed) => {
            const number = numberTyped(typed);
            return number === undefined
              ? undefined
              : { id: number, label: t("phoneAddThis", { number: shownAddress(number) }) };
          }}
          onPick={open}
          onClose={() => setOpen(false)}
          footer={<span class="muted">{t("phoneAddHint")}</span>}
        />
      )}
    </>
  );
}

/** The test numbers, with what happens to a message to each. */
function TestNumbers(): JSX.Element {
  const { data } = testNumbers;
  const shown = new Set(handsets.value?.map(({ number }) => number));
  return (
    <section class="test-numbers" aria-label={t("testNumbers")}>
      <h2>{t("testNumbers")}</h2>
      {data === undefined && <LoadState of={testNumbers} rows={6} />}
      <ul>
        {data?.data.map((each) => (
          <li key={each.number}>
            <TestNumber of={each} isShown={shown.has(each.number)} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface TestNumberProps {
  readonly of: SandboxNumber;
  readonly isShown: boolean;
}

function TestNumber({ of: { number, behavior }, isShown }: TestNumberProps): JSX.Element {
  return (
    <button
      type="button"
      class="test-number"
      aria-pressed={isShown}
      onClick={() => (isShown ? close(number) : open(number))}
    >
      <span class="grow">
        <span class="mono">
          <bdi>{shownAddress(number)}</bdi>
        </span>
        <span class="test-number-outcome">{behavior}</span>
      </span>
      <Icon name={isShown ? "check" : "plus"} />
    </button>
  );
}
