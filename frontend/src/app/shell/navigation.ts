import {
  type Icon,
  IconAdjustments,
  IconBell,
  IconBox,
  IconBuildingCommunity,
  IconDatabase,
  IconLayoutDashboard,
  IconPlayerPlay,
  IconPolygon,
  IconServer2,
  IconTopologyStar3,
} from '@tabler/icons-react';
import type { Rights } from '@/shared/domain/project';
import { ACCOUNT, ADMINISTRATION, allowedPages, PROJECT_SETTINGS, type SettingsPage } from '@/shared/ui/settingsPages';

export interface NavItem {
  key:
    | 'overview'
    | 'notifications'
    | 'datasets'
    | 'labeling'
    | 'runs'
    | 'models'
    | 'clusters'
    | 'machines'
    | 'projectSettings'
    | 'administration';
  to: SettingsPage['to'];
  /** Pages that belong to it although their addresses are elsewhere. */
  also?: readonly string[];
  icon: Icon;
  /** Keyboard sequence that goes there. */
  keys?: string;
}

export interface NavGroup {
  key: 'data' | 'training' | 'settings' | null;
  items: NavItem[];
}

/** The pages of the main job, open to everybody. */
const MAIN: NavGroup[] = [
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
        also: ['/uploads', '/sources', '/deleted-datasets', '/warm-plans'],
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
      { key: 'machines', to: '/settings/machines', icon: IconServer2 },
      { key: 'clusters', to: '/settings/clusters', icon: IconTopologyStar3 },
    ],
  },
];

/** Pages with tabs: one entry each, which leads to the first tab that the person may open. */
const TABBED = [
  { key: 'projectSettings', icon: IconAdjustments, pages: PROJECT_SETTINGS },
  { key: 'administration', icon: IconBuildingCommunity, pages: ADMINISTRATION },
] as const;

/** The side bar: a room of which no tab is open has no entry. */
export function navigationFor(rights: Rights): NavGroup[] {
  const items = TABBED.flatMap(({ key, icon, pages }): NavItem[] => {
    const [first] = allowedPages<SettingsPage>(pages, rights);
    return first ? [{ key, icon, to: first.to, also: pages.map(({ to }) => to) }] : [];
  });
  return items.length > 0 ? [...MAIN, { key: 'settings', items }] : MAIN;
}

interface NamedPage extends Pick<SettingsPage, 'to' | 'icon' | 'keys' | 'needs'> {
  key: NavItem['key'] | SettingsPage['key'];
}

/** Every page that has a name of its own in the shell: in the side bar, behind the avatar, or as a tab. */
export const NAMED_PAGES: NamedPage[] = [
  ...MAIN.flatMap(({ items }) => items),
  ...ACCOUNT,
  ...PROJECT_SETTINGS,
  ...ADMINISTRATION,
];

/** The named pages that the person may open. */
export const namedPagesFor = (rights: Rights) => allowedPages(NAMED_PAGES, rights);
