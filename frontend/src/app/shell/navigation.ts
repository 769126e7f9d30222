import {
  type Icon,
  IconBox,
  IconBucket,
  IconDatabase,
  IconHistory,
  IconKey,
  IconLayoutDashboard,
  IconPlayerPlay,
  IconPolygon,
  IconTrash,
  IconWebhook,
} from '@tabler/icons-react';

export interface NavItem {
  key:
    | 'overview'
    | 'datasets'
    | 'labeling'
    | 'runs'
    | 'models'
    | 'tokens'
    | 's3Keys'
    | 'webhooks'
    | 'audit'
    | 'garbage';
  to:
    | '/'
    | '/datasets'
    | '/labeling'
    | '/runs'
    | '/models'
    | '/settings/tokens'
    | '/settings/s3-keys'
    | '/settings/webhooks'
    | '/settings/audit'
    | '/settings/garbage';
  icon: Icon;
  /** Keyboard sequence that goes there. */
  keys?: string;
  adminOnly?: boolean;
}

export interface NavGroup {
  key: 'data' | 'training' | 'settings' | null;
  items: NavItem[];
}

export const NAVIGATION: NavGroup[] = [
  { key: null, items: [{ key: 'overview', to: '/', icon: IconLayoutDashboard, keys: 'G O' }] },
  {
    key: 'data',
    items: [
      { key: 'datasets', to: '/datasets', icon: IconDatabase, keys: 'G D' },
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
    key: 'settings',
    items: [
      { key: 'tokens', to: '/settings/tokens', icon: IconKey, keys: 'G T' },
      { key: 's3Keys', to: '/settings/s3-keys', icon: IconBucket, keys: 'G 3' },
      { key: 'webhooks', to: '/settings/webhooks', icon: IconWebhook, adminOnly: true },
      { key: 'audit', to: '/settings/audit', icon: IconHistory, adminOnly: true },
      { key: 'garbage', to: '/settings/garbage', icon: IconTrash, adminOnly: true },
    ],
  },
];

/** Only what the person can open: the audit log is for administrators of the installation or of a project. */
export function navigationFor(isAdmin: boolean): NavGroup[] {
  return NAVIGATION.map((group) => ({ ...group, items: group.items.filter((item) => isAdmin || !item.adminOnly) }));
}
