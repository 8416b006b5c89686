import type { JSX } from "preact";
import type { Message, Page, Run, RunStep } from "../../../../../src/index.ts";
import {
  api,
  dateTime,
  Dialog,
  exactDuration,
  firstCharacters,
  LoadState,
  useResource,
} from "../../../shared/browser/index.ts";
import { t } from "../texts.ts";

const maxRuns = 100;

/** Finds the run of the agent that sent a message. */
async function runOf(
  { id, author, conversation_id }: Message,
  signal: AbortSignal,
): Promise<Run | null> {
  if (author.id === undefined) return null;
  const { data } = await api.get<Page<Run>>(`v1/agents/${author.id}/runs`, {
    query: { conversation_id, limit: maxRuns },
    signal,
  });
  const found = data.find((run) => run.message_ids.some((each) => each === id));
  if (found === undefined) return null;
  return api.get<Run>(`v1/agents/${author.id}/runs/${found.id}`, { signal });
}

interface WhyDialogProps {
  readonly message: Message;
  readonly onClose: () => void;
}

/** What the agent did before it wrote a message. */
export function WhyDialog({ message, onClose }: WhyDialogProps): JSX.Element {
  const run = useResource((signal) => runOf(message, signal), [message.id]);
  return (
    <Dialog title={t("why")} onClose={onClose} isWide>
      <LoadState of={run} />
      {run.data === null && <p class="muted">{t("whyNone")}</p>}
      {run.data && <RunView run={run.data} />}
    </Dialog>
  );
}

const triggers = {
  inbound: () => t("triggerInbound"),
  api: () => t("triggerApi"),
  handback: () => t("triggerHandback"),
};

function RunView({ run }: { readonly run: Run }): JSX.Element {
  const { trigger, steps, result, usage } = run;
  return (
    <>
      <p class="muted">
        {t("whyTrigger")} {triggers[trigger.type]()} · {dateTime(run.created_at)}
      </p>
      <ol class="timeline">
        {steps.map((step, index) => (
          <li key={index} class={`timeline-entry tone-${step.error === null ? "neutral" : "bad"}`}>
            <span class="timeline-dot" />
            <div class="grow">
              <bdi>{stepTitle(step)}</bdi>{" "}
              <span class="muted">{exactDuration(step.duration_ms)}</span>
              {step.error !== null && <p class="message-problem">{step.error}</p>}
              <Json label={t("whyInput")} value={step.input} />
              <Json label={t("whyOutput")} value={step.output} />
            </div>
          </li>
        ))}
      </ol>
      <Json label={t("whyResult")} value={result} />
      {usage.model_calls > 0 && (
        <p class="muted">
          {t("whyUsage", { input: usage.input_tokens, output: usage.output_tokens })}
        </p>
      )}
    </>
  );
}

function stepTitle({ type, name }: RunStep): string {
  if (type === "playbook") return t("whyPlaybook", { step: name ?? "" });
  if (type === "model") return t("whyModel", { task: name ?? "" });
  if (type === "approval") return t("whyApproval", { name: name ?? "" });
  return t("whyAction", { name: name ?? type });
}

const maxJson = 20_000;

function Json({
  label,
  value,
}: {
  readonly label: string;
  readonly value: unknown;
}): JSX.Element | null {
  if (value === null || value === undefined) return null;
  return (
    <details class="json">
      <summary>{label}</summary>
      <pre dir="ltr">{firstCharacters(JSON.stringify(value, null, 2), maxJson)}</pre>
    </details>
  );
}
