import {
  type Icon,
  IconAddressBook,
  IconBell,
  IconBellCog,
  IconBox,
  IconBucket,
  IconDatabase,
  IconHeartbeat,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconLock,
  IconPlayerPlay,
  IconPolygon,
  IconServer2,
  IconShare,
  IconSitemap,
  IconTrash,
  IconUserCircle,
  IconUsers,
  IconWebhook,
} from '@tabler/icons-react';
import type { Rights } from '@/shared/project';

export interface NavItem {
  key:
    | 'overview'
    | 'notifications'
    | 'notificationSettings'
    | 'datasets'
    | 'labeling'
    | 'runs'
    | 'models'
    | 'tokens'
    | 's3Keys'
    | 'secrets'
    | 'webhooks'
    | 'runShares'
    | 'audit'
    | 'garbage'
    | 'machines'
    | 'health'
    | 'members'
    | 'units'
    | 'everybody'
    | 'account';
  to:
    | '/'
    | '/notifications'
    | '/settings/notifications'
    | '/datasets'
    | '/labeling'
    | '/runs'
    | '/models'
    | '/settings/tokens'
    | '/settings/s3-keys'
    | '/settings/secrets'
    | '/settings/webhooks'
    | '/settings/run-shares'
    | '/settings/audit'
    | '/settings/garbage'
    | '/settings/machines'
    | '/settings/health'
    | '/settings/members'
    | '/settings/units'
    | '/settings/people'
    | '/settings/account';
  /** Pages that belong to it although their addresses are elsewhere. */
  also?: readonly string[];
  icon: Icon;
  /** Keyboard sequence that goes there. */
  keys?: string;
  /** The right that shows it; everybody sees it without one. */
  needs?: keyof Rights;
}

export interface NavGroup {
  key: 'data' | 'training' | 'people' | 'settings' | null;
  items: NavItem[];
}

export const NAVIGATION: NavGroup[] = [
  {
    key: null,
    items: [
      { key: 'overview', to: '/', icon: IconLayoutDashboard, keys: 'G O' },
      { key: 'notifications', to: '/notifications', icon: IconBell, keys: 'G N' },
    ],
  },
  {
    key: 'data',
    items: [
      {
        key: 'datasets',
        to: '/datasets',
        also: ['/uploads', '/sources', '/deleted-datasets'],
        icon: IconDatabase,
        keys: 'G D',
      },
      { key: 'labeling', to: '/labeling', icon: IconPolygon, keys: 'G L' },
    ],
  },
  {
    key: 'training',
    items: [
      { key: 'runs', to: '/runs', icon: IconPlayerPlay, keys: 'G R' },
      { key: 'models', to: '/models', icon: IconBox, keys: 'G M' },
    ],
  },
  {
    key: 'people',
    items: [
      { key: 'members', to: '/settings/members', icon: IconUsers, keys: 'G P', needs: 'here' },
      { key: 'units', to: '/settings/units', icon: IconSitemap, keys: 'G U', needs: 'units' },
      { key: 'everybody', to: '/settings/people', icon: IconAddressBook, needs: 'installation' },
    ],
  },
  {
    key: 'settings',
    items: [
      { key: 'account', to: '/settings/account', icon: IconUserCircle, keys: 'G A' },
      { key: 'notificationSettings', to: '/settings/notifications', icon: IconBellCog },
      { key: 'tokens', to: '/settings/tokens', icon: IconKey, keys: 'G T' },
      { key: 's3Keys', to: '/settings/s3-keys', icon: IconBucket, keys: 'G 3' },
      { key: 'secrets', to: '/settings/secrets', icon: IconLock, keys: 'G S', needs: 'runs' },
      { key: 'webhooks', to: '/settings/webhooks', icon: IconWebhook, needs: 'admin' },
      { key: 'runShares', to: '/settings/run-shares', icon: IconShare, needs: 'here' },
      { key: 'audit', to: '/settings/audit', icon: IconHistory, needs: 'admin' },
      { key: 'garbage', to: '/settings/garbage', icon: IconTrash, needs: 'admin' },
      { key: 'machines', to: '/settings/machines', icon: IconServer2 },
      { key: 'health', to: '/settings/health', icon: IconHeartbeat, keys: 'G H', needs: 'installation' },
    ],
  },
];

/** Only what the person can open; a group of which nothing is left goes too. */
export function navigationFor(rights: Rights): NavGroup[] {
  const isOpen = ({ needs }: NavItem) => needs === undefined || rights[needs];
  return NAVIGATION.map((group) => ({ ...group, items: group.items.filter(isOpen) })).filter(
    ({ items }) => items.length > 0,
  );
}
