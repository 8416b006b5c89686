/** Runs that are shown while they happen. */
import { useEffect, useMemo } from "preact/hooks";
import type { Playbook, Run } from "../../../../../src/index.ts";
import { api, ApiError, Resource } from "../../../shared/browser/index.ts";
import { useCoalesced, useLive } from "../live.ts";
import type { Played } from "./taken-path.ts";

const refreshMs = 1500;
const refreshDelayMs = 100;

/** The path of a run in the API. */
export const runPath = (agentId: string, id: string): string =>
  `v1/agents/${encodeURIComponent(agentId)}/runs/${encodeURIComponent(id)}`;

/** A run, which is read again until it has ended. Nothing is read without an id. */
export function useRun(agentId: string | undefined, id: string | undefined): Resource<Run> {
  const isGiven = agentId !== undefined && id !== undefined;
  const path = isGiven ? runPath(agentId, id) : "";
  const resource = useMemo(
    () => new Resource<Run>((signal) => api.get(path, {}, { signal })),
    [path],
  );
  const refresh = useCoalesced(() => resource.reload(), refreshDelayMs);
  useEffect(() => {
    if (!isGiven) return undefined;
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
  const isOfRun = (conversation: string): boolean =>
    resource.data?.conversation_id === conversation;
  useLive({
    onEvent: ({ type, data }) => {
      if (type === "agent.run.completed" && data.run.id === id) refresh();
      // A run that may quote the message has lost its texts.
      if (type === "message.redacted" && isOfRun(data.conversation_id)) refresh();
    },
    onGap: () => {
      if (isGiven) refresh();
    },
  });
  return resource;
}

/** A playbook in one version, or in the current one if that version is not kept any more. */
export async function loadPlayed({ id, version }: Played, signal: AbortSignal): Promise<Playbook> {
  const path = `v1/playbooks/${encodeURIComponent(id)}`;
  try {
    return await api.get<Playbook>(path, { version }, { signal });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return api.get<Playbook>(path, {}, { signal });
  }
}
