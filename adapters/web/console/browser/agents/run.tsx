import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { Run, RunStep } from "../../../../../src/index.ts";
import {
  api,
  Button,
  dateTime,
  Icon,
  type IconName,
  linkTo,
  may,
  number,
  Resource,
  toast,
  toastError,
} from "../../../shared/browser/index.ts";
import { useCoalesced, useLive } from "../live.ts";
import { Json } from "../parts/json.tsx";
import { Card, Facts, LoadingPage, PageView } from "../parts/layout.tsx";
import { Copied } from "../parts/values.tsx";
import { t } from "../texts.ts";
import { span } from "../words.ts";
import { runTime, RunStatus, triggerName } from "./states.tsx";

const refreshMs = 1500;
const refreshDelayMs = 100;

interface RunPageProps {
  readonly id: string;
  readonly agentId: string;
}

/** One run: its steps with inputs and outputs, its usage and its result. */
export function RunPage({ id, agentId }: RunPageProps): JSX.Element {
  const path = `v1/agents/${encodeURIComponent(agentId)}/runs/${encodeURIComponent(id)}`;
  const resource = useMemo(
    () => new Resource<Run>((signal) => api.get(path, {}, { signal })),
    [path],
  );
  const refresh = useCoalesced(() => resource.reload(), refreshDelayMs);
  useEffect(() => {
    void resource.reload();
    // Only the end of a run is an event.
    const timer = setInterval(() => {
      if (resource.data?.finished_at === null && document.visibilityState === "visible") refresh();
    }, refreshMs);
    return () => {
      clearInterval(timer);
      resource.stop();
    };
  }, [resource]);
  useLive({
    onEvent: ({ type, data }) => {
      if (type === "agent.run.completed" && data.run.id === id) refresh();
    },
    onGap: refresh,
  });
  const { data: run, error } = resource.state.value;
  const back = { href: linkTo(["agents", agentId]), label: t("agent") };
  if (run === undefined) {
    const title = t("run");
    return (
      <LoadingPage title={title} back={back} error={error} onRetry={() => void resource.reload()} />
    );
  }
  return (
    <PageView
      title={t("runOf", { trigger: triggerName(run.trigger.type) })}
      back={back}
      badge={<RunStatus of={run.status} />}
    >
      {run.status === "awaiting_approval" && (
        <Approval path={path} onDecided={(next) => resource.set(next)} />
      )}
      <div class="message-page">
        <Card title={t("columnSteps")}>
          {run.steps.length === 0 && <p class="muted">{t("stepsNone")}</p>}
          <ol class="life-list">
            {run.steps.map((step, index) => (
              <li key={index} class="life-row">
                <Step step={step} />
              </li>
            ))}
          </ol>
          {run.result !== null && (
            <>
              <h3 class="muted">{t("runResult")}</h3>
              <Json value={run.result} label={t("runResult")} />
            </>
          )}
        </Card>
        <Card title={t("messageFields")}>
          <RunFacts run={run} />
        </Card>
      </div>
    </PageView>
  );
}

function RunFacts({ run }: { readonly run: Run }): JSX.Element {
  const { id, agent_version, playbook_id, conversation_id, trigger, message_ids, usage } = run;
  const links = (ids: readonly string[]): JSX.Element | false =>
    ids.length > 0 && (
      <span class="chips">
        {ids.map((each) => (
          <a key={each} class="mono" href={linkTo(["messages", each])}>
            {each}
          </a>
        ))}
      </span>
    );
  return (
    <Facts
      of={[
        [t("fieldId"), <Copied key="id" value={id} />],
        [t("columnCreated"), dateTime(run.created_at)],
        [t("columnDuration"), runTime(run)],
        [t("columnVersion"), agent_version],
        [
          t("playbook"),
          playbook_id && (
            <a
              class="mono"
              href={linkTo(["agents", "playbooks", playbook_id], { run: id, agent: run.agent_id })}
            >
              {playbook_id}
            </a>
          ),
        ],
        [t("runRead"), links(trigger.message_ids)],
        [t("runSent"), links(message_ids)],
        [t("fieldConversation"), conversation_id && <Copied value={conversation_id} />],
        [t("runCalls"), number(usage.model_calls)],
        [
          t("columnTokens"),
          t("tokens", {
            input: number(usage.input_tokens),
            output: number(usage.output_tokens),
          }),
        ],
      ]}
    />
  );
}

const icons: Partial<Record<string, IconName>> = {
  model: "agent",
  action: "code",
  approval: "person",
};

function Step({ step }: { readonly step: RunStep }): JSX.Element {
  const { type, name, input, output, error, started_at, duration_ms } = step;
  const types: Partial<Record<string, string>> = {
    model: t("stepModel"),
    action: t("stepAction"),
    approval: t("stepApproval"),
  };
  return (
    <>
      <span class={`life-row-icon ${error === null ? "tone-accent" : "tone-bad"}`}>
        <Icon name={icons[type] ?? "info"} />
      </span>
      <details class="grow step">
        <summary>
          <strong>{types[type] ?? type}</strong>
          {name !== null && <code>{name}</code>}
          <span class="grow" />
          <span class="muted" data-tooltip={dateTime(started_at)}>
            {span(duration_ms)}
          </span>
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
    </>
  );
}

interface ApprovalProps {
  readonly path: string;
  readonly onDecided: (run: Run) => void;
}

function Approval({ path, onDecided }: ApprovalProps): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const decide = async (decision: "approve" | "deny"): Promise<void> => {
    setBusy(true);
    try {
      onDecided(await api.post<Run>(`${path}/approve`, { decision }));
      toast({ message: t(decision === "approve" ? "approved" : "denied") });
    } catch (error) {
      toastError(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="notice approval tone-warn">
      <Icon name="person" />
      <span class="grow">{t("approvalWaits")}</span>
      {may("agents:trigger") && (
        <>
          <Button isBusy={isBusy} onClick={() => void decide("deny")}>
            {t("deny")}
          </Button>
          <Button kind="primary" isBusy={isBusy} onClick={() => void decide("approve")}>
            {t("approve")}
          </Button>
        </>
      )}
    </div>
  );
}
