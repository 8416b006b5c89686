import type { JSX } from "preact";
import {
  Avatar,
  Badge,
  Brand,
  currentSession,
  Icon,
  type IconName,
  linkTo,
  Menu,
  openShortcutHelp,
  ThemeMenu,
  toast,
} from "../../shared/browser/index.ts";
import { counts } from "./state/live.ts";
import { notifications, setNotifications } from "./state/notifications.ts";
import { type View, views } from "./state/views.ts";
import { t } from "./texts.ts";

const icons: { readonly [view in View]: IconName } = {
  all: "inbox",
  mine: "person",
  unassigned: "users",
  waiting: "clock",
  snoozed: "snooze",
  closed: "archive",
};

export const viewName = (view: View): string =>
  ({
    all: t("viewAll"),
    mine: t("viewMine"),
    unassigned: t("viewUnassigned"),
    waiting: t("viewWaiting"),
    snoozed: t("viewSnoozed"),
    closed: t("viewClosed"),
  })[view];

const maxShown = 99;

/** The count of a view. Of more than 99, only that is shown. */
export const countText = (count: number): string =>
  count > maxShown ? t("many", { count: maxShown }) : String(count);

interface RailProps {
  /** The view that is shown. Undefined if there is none. */
  readonly view: View | undefined;
}

/** The views, and the settings of the page. */
export function ViewRail({ view }: RailProps): JSX.Element {
  return (
    <header class="rail">
      <div class="rail-brand">
        <Brand>{t("title")}</Brand>
        {currentSession.value?.mode === "sandbox" && <Badge tone="warn">{t("sandbox")}</Badge>}
      </div>
      <nav class="rail-places" aria-label={t("views")}>
        {views.map((each) => {
          const count = counts.value[each] ?? 0;
          return (
            <a
              key={each}
              class="rail-place"
              href={linkTo([each])}
              aria-current={each === view ? "page" : undefined}
            >
              <Icon name={icons[each]} />
              <span class="grow">{viewName(each)}</span>
              {count > 0 && (
                <span class={each === "waiting" ? "count is-warn" : "count"}>
                  {countText(count)}
                </span>
              )}
            </a>
          );
        })}
      </nav>
      <div class="rail-end">
        <Operator />
        <ThemeMenu />
        <Settings />
      </div>
    </header>
  );
}

function Operator(): JSX.Element | null {
  const me = currentSession.value?.operator;
  if (me === undefined) return null;
  return (
    <span class="rail-operator">
      <Avatar name={me.name} picture={me.avatar_url} size="small" />
      <bdi class="rail-name">{me.name}</bdi>
    </span>
  );
}

function Settings(): JSX.Element {
  const isOn = notifications.value;
  const toggle = async (): Promise<void> => {
    if (!(await setNotifications(!isOn))) {
      toast({ message: t("notificationsDenied"), isError: true });
    }
  };
  return (
    <Menu
      label={t("settings")}
      icon="settings"
      items={[
        {
          label: t(isOn ? "notificationsOff" : "notificationsOn"),
          icon: "bell",
          onPick: () => void toggle(),
        },
        { label: t("shortcutsMenu"), icon: "keyboard", shortcut: "?", onPick: openShortcutHelp },
      ]}
    />
  );
}
