import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Agent, Page, Playbook, Run } from "../../../../../src/index.ts";
import {
  api,
  Button,
  channelName,
  currentSession,
  EmptyState,
  Facts,
  linkTo,
  may,
  place,
  useResource,
} from "../../../shared/browser/index.ts";
import { isErased, readContacts } from "../contacts.ts";
import { useCoalesced, useLive, useReturn } from "../live.ts";
import { usePagedList } from "../paged.ts";
import { AsJson } from "../parts/json.tsx";
import { Card, LoadingPage, Paged, PageView, StatusFilter } from "../parts/layout.tsx";
import { Copied } from "../parts/values.tsx";
import { HandsetView } from "../phones/handset-view.tsx";
import { Handset } from "../phones/handset.ts";
import { t } from "../texts.ts";
import { EditButtons, EnableButton, EnabledBadge } from "./edit-buttons.tsx";
import { runName, runStatuses, RunTable } from "./runs/run-table.tsx";

const refreshDelayMs = 300;

/** One agent: its settings and runs, and a phone to try it out. */
export function AgentPage({ id }: { readonly id: string }): JSX.Element {
  const path = `v1/agents/${encodeURIComponent(id)}`;
  const status = place.value.query["status"];
  const agent = useResource<Agent>((signal) => api.get(path, { signal }), [path]);
  const runs = usePagedList<Run>(
    async (cursor, signal) => {
      const [page] = await Promise.all([
        api.get<Page<Run>>(`${path}/runs`, { query: { status, limit: 20, cursor }, signal }),
        cursor === undefined && readContacts(signal),
      ]);
      return page;
    },
    [path, status],
  );
  const refresh = useCoalesced(() => runs.refresh(), refreshDelayMs);
  useLive({
    onEvent: ({ type }) => {
      // Runs of an erased contact are hidden by their conversations. The console may not know all
      // of these.
      const isOfRun = type.startsWith("agent.run.") || type === "message.received";
      if (isOfRun || type === "contact.erased") refresh();
    },
    onGap: refresh,
  });
  useReturn(() => void agent.reload());
  const playbooks = usePlaybookNames();
  const { data } = agent;
  const back = { href: linkTo(["agents"]), label: t("agents") };
  if (data === undefined) return <LoadingPage title={t("agent")} back={back} of={agent} />;
  const messages = { enabled: t("agentEnabled"), disabled: t("agentDisabled") };
  return (
    <PageView
      title={data.name}
      back={back}
      badge={<EnabledBadge enabled={data.enabled} />}
      actions={
        <>
          <EnableButton path={path} resource={agent} enabled={data.enabled} messages={messages} />
          <EditButtons
            path={path}
            form={["agents", id, "edit"]}
            name={data.name}
            deleteHint={t("agentDeleteHint")}
            deletedMessage={t("agentDeleted")}
          />
        </>
      }
    >
      <div class="agent-page">
        <div class="agent-main">
          <Card
            title={t("runs")}
            isFlush
            actions={<StatusFilter statuses={runStatuses} nameOf={runName} all={t("runsAll")} />}
          >
            <Paged
              list={runs}
              isHidden={({ conversation_id }) => isErased(conversation_id)}
              empty={
                <EmptyState icon="agent" title={t("runsNone")}>
                  {t("runsNoneHint")}
                </EmptyState>
              }
            >
              {(rows) => <RunTable rows={rows} playbooks={playbooks} />}
            </Paged>
          </Card>
          <Settings agent={data} playbooks={playbooks} />
        </div>
        <TryOut agent={data} />
      </div>
    </PageView>
  );
}

/** The names of playbooks by their ids. A playbook that is not loaded has no entry. */
function usePlaybookNames(): ReadonlyMap<string, string> {
  const playbooks = useResource<Page<Playbook>>(
    (signal) => api.get("v1/playbooks", { query: { limit: 100 }, signal }),
    [],
  );
  return new Map(playbooks.data?.data.map(({ id, name }) => [id, name]));
}

interface SettingsProps {
  readonly agent: Agent;
  /** The names of playbooks by their ids, as far as they are known. */
  readonly playbooks: ReadonlyMap<string, string>;
}

function Settings({ agent, playbooks }: SettingsProps): JSX.Element {
  const { persona, channels, instructions, fallback_text, version, playbook_ids, actions } = agent;
  return (
    <Card title={t("settings")}>
      <Facts
        of={[
          [t("agentRole"), persona.role],
          [t("channels"), channels.map(channelName).join(", ")],
          [t("agentInstructions"), instructions && <bdi class="pre-line">{instructions}</bdi>],
          [t("agentFallback"), <bdi key="fallback">{fallback_text}</bdi>],
          [t("agentActions"), actions.join(", ")],
          [
            t("playbooks"),
            playbook_ids.length > 0 && (
              <span class="chips">
                {playbook_ids.map((each) => (
                  <a key={each} class="chip" href={linkTo(["agents", "playbooks", each])}>
                    <bdi>{playbooks.get(each) ?? each}</bdi>
                  </a>
                ))}
              </span>
            ),
          ],
          [t("columnVersion"), version],
          [t("fieldId"), <Copied key="id" value={agent.id} />],
        ]}
      />
      <AsJson value={agent} />
    </Card>
  );
}

/** A random number, which hardly any contact has yet. */
function freshNumber(): string {
  const [random = 0] = crypto.getRandomValues(new Uint32Array(1));
  return `+1555${String(2_000_000 + (random % 8_000_000))}`;
}

/** A phone of a new contact, which texts with the account and so with the agent. */
function TryOut({ agent }: { readonly agent: Agent }): JSX.Element | null {
  const [handset, setHandset] = useState(() => new Handset(freshNumber()));
  const canText = may("sandbox:write") && may("contacts:read") && may("messages:read");
  const isPossible = currentSession.value?.mode === "sandbox" && canText;
  useEffect(() => {
    if (isPossible) handset.refresh();
  }, [handset]);
  useLive({ onEvent: (event) => handset.observe(event), onGap: handset.refresh });
  if (!isPossible || !agent.channels.includes("sms")) return null;
  return (
    <section class="try-out" aria-label={t("tryOut")}>
      <header class="card-header">
        <h2 class="grow">{t("tryOut")}</h2>
        <Button isSmall icon="refresh" onClick={() => setHandset(new Handset(freshNumber()))}>
          {t("tryOutAgain")}
        </Button>
      </header>
      <HandsetView key={handset.number} handset={handset} behavior={t("tryOutContact")} />
      <p class="muted">{t(agent.enabled ? "tryOutHint" : "tryOutDisabled")}</p>
    </section>
  );
}
