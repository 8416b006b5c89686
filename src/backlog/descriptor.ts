import { method, type ApiRoute, type Module } from "../operations/index.ts";
import { getBacklog } from "./get-backlog.ts";
import { backlogSchema } from "./types.ts";

const backlogRoutes: readonly ApiRoute[] = [
  {
    tag: "Account",
    scopes: [],
    method: "GET",
    path: "/v1/backlog",
    operation: getBacklog,
    summary: "Get the backlog",
    description:
      "Returns what waits in the account in the key's mode, and since when: messages to hand " +
      "over, awaited outcomes, agents' turns and webhook deliveries. Any key may call this.",
    response: backlogSchema,
  },
];

const backlogHandles = {
  backlog: method(
    ({ read }) =>
      () =>
        read(getBacklog, {}),
  ),
};

export const backlogModule: Module<object, typeof backlogHandles> = {
  routes: backlogRoutes,
  handles: backlogHandles,
};
