/** The actions of the application, which the forms offer and approvals name. */
import type { AgentAction, AgentActions } from "../../../../../src/index.ts";
import { api, Resource } from "../../../shared/browser/index.ts";

const actions = new Resource<AgentActions>((signal) => api.get("v1/actions", {}, { signal }));

/** Loads the actions once. */
export function loadActions(): void {
  const { data, isLoading } = actions.state.peek();
  if (data === undefined && !isLoading) void actions.reload();
}

/** The actions. Undefined until they are loaded. */
export const loadedActions = (): readonly AgentAction[] | undefined => actions.data?.data;
