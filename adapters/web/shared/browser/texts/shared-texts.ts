import { defineTexts } from "./define-texts.ts";

/** The texts of what all pages share. */
export const text = defineTexts({
  cancel: "Cancel",
  close: "Close",
  copied: "Copied",
  copy: "Copy",
  dismiss: "Dismiss",
  loading: "Loading",
  optional: "optional",
  visitor: "Visitor {code}",
  retry: "Try again",
  tryAgainIn: "Trying again in {time}",
  tryNow: "Try now",
  noOptions: "Nothing found",
  moreOptions: "Help",

  errorTitle: "Something went wrong",
  errorForbidden: "You have no access",
  errorNotFound: "Not found",
  errorOffline: "The server does not respond. Check your connection. What you typed is kept.",
  errorTimeout: "The server took too long. Try again.",
  errorUnknown: "The server sent a response that this page does not understand. Reload the page.",
  errorRequest: "Request {id}",
  errorForbiddenHint: "Ask an administrator for access.",
  errorNotFoundHint: "It may have been removed. Check the address, or reload the page.",
  errorFinalHint: "Reload the page. If this happens again, tell an administrator.",
  errorLimited: "Too many requests. Wait a moment, then try again.",
  fieldProblem: "{field}: {message}",

  offlineTitle: "Not connected",
  offlineBody: "The server does not respond. This page shows what it loaded last.",
  streamLost: "Live updates are interrupted.",
  backOnline: "Connected again",

  signInTitle: "Sign in",
  signInBody: "Enter the token that was printed where the server was started.",
  signInToken: "Token",
  signInButton: "Sign in",
  signInAgain: "Your session has ended. What you typed is kept.",
  signedOutBody: "You are signed out.",

  approvalWaits: "Without a decision, the action is denied after a day.",
  approvalsLater: "Next in the same run",
  approve: "Approve",
  approved: "The action is approved",
  decidedBefore: "Another person decided first, or the time to decide is over.",
  deny: "Deny",
  denied: "The action is denied",

  themeLabel: "Appearance",
  themeSystem: "Same as the system",
  themeLight: "Light",
  themeDark: "Dark",

  shortcutsTitle: "Keyboard shortcuts",
  shortcutsEnabled: "Single-key shortcuts",
  shortcutsHint: "Single-key shortcuts do nothing while you type.",
  shortcutHelp: "Show keyboard shortcuts",

  today: "Today",
  yesterday: "Yesterday",
});
