/** Runs that are shown while they happen. */
import { useEffect, useMemo } from "preact/hooks";
import type { Run } from "../../../../../../src/index.ts";
import { api, Resource, type Loaded } from "../../../../shared/browser/index.ts";
import { isErasedSince } from "../../contacts.ts";
import { useCoalesced, useLive } from "../../live.ts";

/** How often a run that has not ended is read again. */
const pollMs = 1500;
const refreshDelayMs = 100;

/** The path of a run in the API. */
const runPath = (agentId: string, id: string): string =>
  `v1/agents/${encodeURIComponent(agentId)}/runs/${encodeURIComponent(id)}`;

/** Whether the run was shown and then removed: its contact was erased, or the run was old. */
export const isGoneRun = (state: Loaded<Run>): boolean =>
  isErasedSince(state, ({ conversation_id }) => conversation_id);

/** A run. It is read again until it has ended. Without the ids, nothing is read. */
export function useRun(agentId: string | undefined, id: string | undefined): Resource<Run> {
  const isGiven = agentId !== undefined && id !== undefined;
  const path = isGiven ? runPath(agentId, id) : "";
  const resource = useMemo(() => new Resource<Run>((signal) => api.get(path, { signal })), [path]);
  const refresh = useCoalesced(() => resource.reload(), refreshDelayMs);
  useEffect(() => {
    if (!isGiven) return undefined;
    void resource.reload();
    // Events report only some of a run's changes.
    const timer = setInterval(() => {
      if (resource.data?.finished_at === null && document.visibilityState === "visible") refresh();
    }, pollMs);
    return () => {
      clearInterval(timer);
      resource.stop();
    };
  }, [resource]);
  const isOfRun = (conversation: string): boolean =>
    resource.data?.conversation_id === conversation;
  useLive({
    onEvent: ({ type, data }) => {
      if (type === "agent.run.completed" && data.run.id === id) refresh();
      if (type === "agent.run.awaiting_approval" && data.run_id === id) refresh();
      if (type === "agent.run.approval_decided" && data.run_id === id) refresh();
      // A run that may quote the message has lost its texts.
      if (type === "message.redacted" && isOfRun(data.conversation_id)) refresh();
      if (type === "contact.erased" && isGiven) refresh();
    },
    onGap: () => {
      if (isGiven) refresh();
    },
  });
  return resource;
}
