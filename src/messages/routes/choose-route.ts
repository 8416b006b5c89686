import type { Mode } from "../../kernel/index.ts";
import { carries, type Services } from "../../operations/index.ts";
import { matchRoute, type ChosenRoute, type RouteFacts } from "./route-rules.ts";

export type Routing = Pick<Services, "routes" | "factsByTransport">;

/** Returns the route of a message whose sender belongs to transport `home`. */
export function chooseRoute(
  { routes, factsByTransport }: Routing,
  message: RouteFacts & { readonly mode: Mode },
  home: string,
): ChosenRoute {
  const { mode, channel } = message;
  return matchRoute(routes, message, home, (transport) =>
    carries(factsByTransport, transport, mode, channel),
  );
}

/** Returns the first transport of a message. */
export function firstTransport(
  services: Routing,
  message: RouteFacts & { readonly mode: Mode },
  home: string,
): string {
  return services.routes.length === 0 ? home : chooseRoute(services, message, home).transports[0];
}
