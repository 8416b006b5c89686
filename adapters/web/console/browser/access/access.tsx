import type { JSX } from "preact";
import { go, linkTo, may, place, Tabs } from "../../../shared/browser/index.ts";
import { MissingScopes, PageView } from "../parts/layout.tsx";
import { t } from "../texts.ts";
import { ConsentTab } from "./consent.tsx";
import { KeysTab } from "./keys.tsx";
import { SendersTab } from "./senders.tsx";

const tabs = [
  { id: "keys", scope: "keys:manage", view: KeysTab },
  { id: "senders", scope: "senders:manage", view: SendersTab },
  { id: "consent", scope: "contacts:read", view: ConsentTab },
] as const;

type TabId = (typeof tabs)[number]["id"];

/** API keys, senders and consent. */
export function AccessPage(): JSX.Element {
  const allowed = tabs.filter(({ scope }) => may(scope));
  const active = allowed.find(({ id }) => id === place.value.path[1]) ?? allowed[0];
  if (active === undefined) {
    return <MissingScopes scopes={tabs.map(({ scope }) => scope)} title={t("access")} />;
  }
  const { view: View } = active;
  const names: { readonly [id in TabId]: string } = {
    keys: t("keys"),
    senders: t("senders"),
    consent: t("consent"),
  };
  return (
    <PageView title={t("access")} about={t("accessAbout")}>
      <Tabs<TabId>
        label={t("access")}
        panel="access-panel"
        active={active.id}
        tabs={allowed.map(({ id }) => ({ id, label: names[id] }))}
        onChange={(id) => go(linkTo(["access", id]), true)}
      />
      <div id="access-panel" class="tab-panel" role="tabpanel" aria-label={names[active.id]}>
        <View />
      </div>
    </PageView>
  );
}
