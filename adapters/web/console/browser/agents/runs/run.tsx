import type { JSX } from "preact";
import type { Run } from "../../../../../../src/index.ts";
import {
  Approval,
  dateTime,
  EmptyState,
  Facts,
  linkTo,
  number,
} from "../../../../shared/browser/index.ts";
import { contactOf, isErased, nameOf, useContactOf } from "../../contacts.ts";
import { Json } from "../../parts/json.tsx";
import { Card, LoadingPage, PageView } from "../../parts/layout.tsx";
import { ContactCell, Copied } from "../../parts/values.tsx";
import { t } from "../../texts.ts";
import { PlayedGraph } from "../graph/played-graph.tsx";
import { playedIn } from "../graph/taken-path.ts";
import { AgentLink, PlaybookLink } from "../named-link.tsx";
import { RunLog } from "./run-log.tsx";
import { isGoneRun, useRun } from "./run-resource.ts";
import { RunStatus, runTime, triggerName } from "./run-table.tsx";

interface RunPageProps {
  readonly id: string;
  readonly agentId: string;
}

/** One run: its steps with inputs and outputs, its usage and its result. */
export function RunPage({ id, agentId }: RunPageProps): JSX.Element {
  const resource = useRun(agentId, id);
  const state = resource.state.value;
  const { data: run } = state;
  useContactOf(run?.conversation_id);
  const back = { href: linkTo(["agents", agentId]), label: t("agent") };
  if (isGoneRun(state)) {
    return (
      <PageView title={t("run")} back={back}>
        {isErased(run?.conversation_id) ? (
          <EmptyState title={t("runErased")} />
        ) : (
          <EmptyState title={t("runGone")}>{t("runGoneHint")}</EmptyState>
        )}
      </PageView>
    );
  }
  if (run === undefined) return <LoadingPage title={t("run")} back={back} of={resource} />;
  const played = playedIn(run.steps);
  const name = nameOf(contactOf(run.conversation_id));
  const facts = (
    <Card title={t("fields")}>
      <RunFacts run={run} />
    </Card>
  );
  return (
    <PageView
      title={name === undefined ? t("run") : t("runOf", { name })}
      back={back}
      badge={<RunStatus of={run.status} />}
    >
      {run.status === "awaiting_approval" && (
        <Approval
          key={run.approval?.call_id}
          run={run}
          title={t("approvalTitle")}
          onDecided={(next) => resource.set(next)}
          showInput={(input) => <Json value={input} label={t("stepInput")} />}
        />
      )}
      <div class={played.length === 0 ? "message-page" : "run-page"}>
        <div class="message-side">
          <Card title={t("columnSteps")}>
            <RunLog run={run} />
            {run.result !== null && (
              <>
                <h3 class="muted">{t("runResult")}</h3>
                <Json value={run.result} label={t("runResult")} />
              </>
            )}
          </Card>
          {played.length > 0 && facts}
        </div>
        <div class="message-side">
          {played.length === 0
            ? facts
            : played.map((each) => (
                <PlayedGraph
                  key={`${each.id} ${each.version}`}
                  run={run}
                  played={each}
                  linksTo="playbook"
                />
              ))}
        </div>
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
        [t("runTrigger"), triggerName(trigger.type)],
        [t("agent"), <AgentLink key="agent" id={run.agent_id} />],
        [t("columnVersion"), agent_version],
        [
          t("playbook"),
          playbook_id && <PlaybookLink id={playbook_id} run={id} agent={run.agent_id} />,
        ],
        [t("runRead"), links(trigger.message_ids)],
        [t("runSent"), links(message_ids)],
        [t("fieldContact"), conversation_id && <ContactCell conversationId={conversation_id} />],
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
