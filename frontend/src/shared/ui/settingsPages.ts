import {
  type Icon,
  IconAddressBook,
  IconBellCog,
  IconBucket,
  IconCloudDataConnection,
  IconHeartbeat,
  IconHistory,
  IconKey,
  IconLock,
  IconShare,
  IconSitemap,
  IconTrash,
  IconUserCircle,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';
import type { Rights } from '../domain/project';

/** A page that the shell leads to. */
export interface SettingsPage {
  /** Its word in `nav`. */
  key:
    | 'account'
    | 'notificationSettings'
    | 'tokens'
    | 's3Keys'
    | 'members'
    | 'secrets'
    | 'webhooks'
    | 'runShares'
    | 'units'
    | 'everybody'
    | 'health'
    | 'stores'
    | 'audit'
    | 'garbage';
  to: NonNullable<LinkProps['to']>;
  icon: Icon;
  /** Keyboard sequence that goes there. */
  keys?: string;
  /** The right that opens it; without one, everybody may. */
  needs?: keyof Rights;
}

/** Pages of the person, in the menu of the avatar. */
export const ACCOUNT = [
  { key: 'account', to: '/settings/account', icon: IconUserCircle, keys: 'G A' },
  { key: 'notificationSettings', to: '/settings/notifications', icon: IconBellCog },
  { key: 'tokens', to: '/settings/tokens', icon: IconKey, keys: 'G T' },
  { key: 's3Keys', to: '/settings/s3-keys', icon: IconBucket, keys: 'G 3' },
] as const satisfies SettingsPage[];

/** Pages of the project that is shown: tabs of one page. */
export const PROJECT_SETTINGS = [
  { key: 'members', to: '/settings/members', icon: IconUsers, keys: 'G P', needs: 'here' },
  { key: 'secrets', to: '/settings/secrets', icon: IconLock, keys: 'G S', needs: 'runs' },
  { key: 'webhooks', to: '/settings/webhooks', icon: IconWebhook, needs: 'here' },
  { key: 'runShares', to: '/settings/run-shares', icon: IconShare, needs: 'here' },
] as const satisfies SettingsPage[];

/** Pages of administrators of units and of the installation: tabs of one page. */
export const ADMINISTRATION = [
  { key: 'units', to: '/settings/units', icon: IconSitemap, keys: 'G U', needs: 'units' },
  { key: 'everybody', to: '/settings/people', icon: IconAddressBook, needs: 'installation' },
  { key: 'health', to: '/settings/health', icon: IconHeartbeat, keys: 'G H', needs: 'installation' },
  { key: 'stores', to: '/settings/stores', icon: IconCloudDataConnection, needs: 'installation' },
  { key: 'audit', to: '/settings/audit', icon: IconHistory, needs: 'admin' },
  { key: 'garbage', to: '/settings/garbage', icon: IconTrash, needs: 'here' },
] as const satisfies SettingsPage[];

export type ProjectPage = (typeof PROJECT_SETTINGS)[number]['key'];
export type AdministrationPage = (typeof ADMINISTRATION)[number]['key'];

/** Only what the person may open. */
export const allowedPages = <R extends { needs?: keyof Rights }>(pages: readonly R[], rights: Rights): R[] =>
  pages.filter(({ needs }) => needs === undefined || rights[needs]);
