/** What happened in a run, as one log: messages, steps of playbooks, calls and decisions. */
import type { JSX } from "preact";
import type { Message, Run, RunStep } from "../../../../../../src/index.ts";
import {
  api,
  dateTime,
  exactDuration,
  Icon,
  linkTo,
  may,
  useResource,
  type IconName,
  type Tone,
} from "../../../../shared/browser/index.ts";
import { useLive } from "../../live.ts";
import { Json } from "../../parts/json.tsx";
import { t } from "../../texts.ts";

/** The maximum number of messages in the log, per direction. Further ones are links beside it. */
const maxMessages = 5;

/** The log of a run. Messages are part of it if the person may read them. */
export function RunLog({ run }: { readonly run: Run }): JSX.Element {
  const read = useMessages(run.trigger.message_ids.slice(-maxMessages));
  const sent = useMessages(run.message_ids.slice(0, maxMessages));
  const rows: JSX.Element[] = [];
  const add = (message: Message): unknown =>
    rows.push(<MessageRow key={message.id} message={message} />);
  for (const message of read) add(message);
  let shown = 0;
  for (const [index, step] of run.steps.entries()) {
    for (const message of sent.slice(shown)) {
      if (message.created_at >= step.started_at) break;
      add(message);
      shown += 1;
    }
    rows.push(
      <StepRow key={index} step={step} isLast={index === run.steps.length - 1} run={run} />,
    );
  }
  for (const message of sent.slice(shown)) add(message);
  if (rows.length === 0) return <p class="muted">{t("stepsNone")}</p>;
  return <ol class="timeline-list">{rows}</ol>;
}

/** The messages with these ids, if the person may read them. */
function useMessages(ids: readonly string[]): readonly Message[] {
  const messages = useResource(
    async (signal) => {
      const readable = may("messages:read") ? ids : [];
      return Promise.all(readable.map((id) => api.get<Message>(`v1/messages/${id}`, { signal })));
    },
    [ids.join(" ")],
  );
  useLive({
    onEvent: ({ type, data }) => {
      if (type === "message.redacted" && ids.includes(data.message_id)) void messages.reload();
    },
    onGap: () => void messages.reload(),
  });
  return messages.data ?? [];
}

function MessageRow({ message }: { readonly message: Message }): JSX.Element {
  const { id, direction, body } = message;
  const isIn = direction === "inbound";
  return (
    <li class="timeline-row">
      <span class={`timeline-row-icon ${isIn ? "tone-neutral" : "tone-good"}`}>
        <Icon name={isIn ? "arrow-in" : "arrow-out"} />
      </span>
      <span class="log-text grow">
        <a class="strong" href={linkTo(["messages", id])}>
          {t(isIn ? "logRead" : "logSent")}
        </a>
        <bdi class="log-body">{body}</bdi>
      </span>
    </li>
  );
}

/** How long a step took. A tooltip says when it began. */
const StepTime = ({ step: { started_at, duration_ms } }: { readonly step: RunStep }) => (
  <span class="muted nowrap" data-tooltip={dateTime(started_at)}>
    {duration_ms === 0 ? "" : exactDuration(duration_ms)}
  </span>
);

interface StepRowProps {
  readonly step: RunStep;
  readonly run: Run;
  readonly isLast: boolean;
}

function StepRow({ step, run, isLast }: StepRowProps): JSX.Element {
  if (step.playbook !== undefined) {
    return <PlaybookRow step={step} run={run} isLast={isLast} />;
  }
  return <CallRow step={step} />;
}

type Outcome = NonNullable<RunStep["playbook"]>["outcome"];

const outcomeTones: Partial<Record<NonNullable<Outcome>, Tone>> = {
  asked: "warn",
  asked_again: "warn",
  awaiting_approval: "warn",
  failed: "bad",
  limit: "bad",
  canceled: "warn",
  handed_off: "warn",
  resolved: "good",
};

/** Why a run left a step of a playbook, or what the step waits for, in words. */
const outcomeName = (outcome: Outcome, isRunning: boolean): string => {
  if (outcome === null) return t(isRunning ? "outcomePresent" : "outcomeCut");
  const names: { readonly [name in NonNullable<Outcome>]: string } = {
    done: t("outcomeDone"),
    asked: t("outcomeAsked"),
    asked_again: t("outcomeAskedAgain"),
    answered: t("outcomeAnswered"),
    skipped: t("outcomeSkipped"),
    filled: t("outcomeFilled"),
    condition: t("outcomeCondition"),
    otherwise: t("outcomeOtherwise"),
    called: t("outcomeCalled"),
    awaiting_approval: t("runAwaiting"),
    failed: t("statusFailed"),
    limit: t("outcomeLimit"),
    canceled: t("outcomeCanceled"),
    handed_off: t("runHandedOff"),
    resolved: t("outcomeResolved"),
  };
  // A later version of the engine may have other outcomes.
  return (names as Partial<typeof names>)[outcome] ?? outcome;
};

function PlaybookRow({ step, run, isLast }: StepRowProps): JSX.Element {
  const { name, output, error, playbook } = step;
  const outcome = playbook?.outcome ?? null;
  const tone = outcome === null ? "accent" : (outcomeTones[outcome] ?? "accent");
  return (
    <li class="timeline-row">
      <span class={`timeline-row-icon tone-${tone}`}>
        <Icon name="flag" />
      </span>
      <span class="log-text grow">
        <span class="log-step">
          <code class="strong">{name}</code>
          <span class={tone === "accent" ? "muted" : `tone-text tone-${tone}`}>
            {outcomeName(outcome, isLast && run.finished_at === null)}
          </span>
          {output !== null && (
            <code class="log-value truncate">
              <bdi>{typeof output === "string" ? output : JSON.stringify(output)}</bdi>
            </code>
          )}
        </span>
        {error !== null && <bdi class="muted">{error}</bdi>}
      </span>
      <StepTime step={step} />
    </li>
  );
}

const callIcons: Partial<Record<string, IconName>> = {
  model: "agent",
  action: "code",
  approval: "person",
};

/** A call or a decision, with its input and output on request. */
function CallRow({ step }: { readonly step: RunStep }): JSX.Element {
  const { type, name, input, output, error } = step;
  const typeNames: Partial<Record<string, string>> = {
    model: t("stepModel"),
    action: t("stepAction"),
    approval: t(output === "approve" ? "logApproved" : "logDenied"),
  };
  return (
    <li class="timeline-row is-call">
      <span class={`timeline-row-icon ${error === null ? "tone-accent" : "tone-bad"}`}>
        <Icon name={callIcons[type] ?? "info"} />
      </span>
      <details class="grow step">
        <summary>
          <Icon name="chevron-right" />
          <strong class="nowrap">{typeNames[type] ?? type}</strong>
          {name !== null && <code>{name}</code>}
          <span class="grow" />
          <StepTime step={step} />
        </summary>
        {error !== null && (
          <p class="notice tone-bad">
            <Icon name="alert" />
            <bdi>{error}</bdi>
          </p>
        )}
        {input !== null && (
          <>
            <h3 class="muted">{t("stepInput")}</h3>
            <Json value={input} label={t("stepInput")} />
          </>
        )}
        {output !== null && (
          <>
            <h3 class="muted">{t("stepOutput")}</h3>
            <Json value={output} label={t("stepOutput")} />
          </>
        )}
      </details>
    </li>
  );
}
