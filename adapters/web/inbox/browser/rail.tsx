import { Fragment, type ComponentChildren, type JSX } from "preact";
import {
  Avatar,
  Badge,
  Brand,
  currentSession,
  Icon,
  linkTo,
  Menu,
  openShortcutHelp,
  ThemeMenu,
  toast,
  type IconName,
} from "../../shared/browser/index.ts";
import { counts } from "./state/live.ts";
import { notifications, setNotifications } from "./state/notifications.ts";
import { offeredLists, type ListName } from "./state/views.ts";
import { t } from "./texts.ts";

const icons: { readonly [name in ListName]: IconName } = {
  all: "inbox",
  mine: "person",
  unassigned: "users",
  waiting: "clock",
  snoozed: "snooze",
  closed: "archive",
  contacts: "contacts",
};

export const listTitle = (name: ListName): string =>
  ({
    all: t("viewAll"),
    mine: t("viewMine"),
    unassigned: t("viewUnassigned"),
    waiting: t("viewWaiting"),
    snoozed: t("viewSnoozed"),
    closed: t("viewClosed"),
    contacts: t("contacts"),
  })[name];

const maxShown = 99;

/** The count of a view. Of more than 99, only that is shown. */
export const countText = (count: number): string =>
  count > maxShown ? t("many", { count: maxShown }) : String(count);

/** The count next to the name of a list. The contacts are not counted. */
export const countOfList = (name: ListName): number =>
  name === "contacts" ? 0 : (counts.value[name] ?? 0);

interface RailProps {
  /** The list that is shown. Undefined if there is none. */
  readonly shown: ListName | undefined;
}

/** The views, the contacts, and the settings of the page. */
export function Rail({ shown }: RailProps): JSX.Element {
  return (
    <header class="rail">
      <div class="rail-brand">
        <Brand>{t("title")}</Brand>
        {currentSession.value?.mode === "sandbox" && (
          <Badge tone="warn" tip={t("sandboxHint")}>
            {t("sandbox")}
          </Badge>
        )}
      </div>
      <nav class="rail-places" aria-label={t("views")}>
        {offeredLists().map((each, index) => {
          const count = countOfList(each);
          return (
            <Fragment key={each}>
              {each === "contacts" && index > 0 && <hr class="rail-rule" />}
              <RailPlace name={each} shown={shown}>
                {count > 0 && <Count of={count} isWaiting={each === "waiting"} />}
              </RailPlace>
            </Fragment>
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

/** How many conversations of a view wait, or are unread. */
function Count(props: { readonly of: number; readonly isWaiting: boolean }): JSX.Element {
  const { of: count, isWaiting } = props;
  const meaning = t(isWaiting ? "countWaiting" : "countUnread");
  return (
    <span class={isWaiting ? "count is-warn" : "count"} data-tooltip={meaning}>
      {countText(count)}
      <span class="visually-hidden"> {meaning}</span>
    </span>
  );
}

interface RailPlaceProps extends RailProps {
  readonly name: ListName;
  readonly children?: ComponentChildren;
}

function RailPlace({ name, shown, children }: RailPlaceProps): JSX.Element {
  return (
    <a class="rail-place" href={linkTo([name])} aria-current={name === shown ? "page" : undefined}>
      <Icon name={icons[name]} />
      <span class="grow">{listTitle(name)}</span>
      {children}
    </a>
  );
}

function Operator(): JSX.Element | null {
  const me = currentSession.value?.operator;
  if (me === undefined) return null;
  return (
    <span class="rail-operator">
      <Avatar name={me.name} seed={me.id} picture={me.avatar_url} size="small" />
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
