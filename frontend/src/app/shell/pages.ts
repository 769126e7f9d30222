import {
  type Icon,
  IconActivity,
  IconArrowsDiff,
  IconArrowsLeftRight,
  IconBrush,
  IconCloudUpload,
  IconDatabase,
  IconDatabaseImport,
  IconFlame,
  IconGitBranch,
  IconGitCompare,
  IconHistory,
  IconHourglass,
  IconListCheck,
  IconPlus,
  IconPolygon,
  IconShieldCheck,
  IconSparkles,
  IconStack2,
  IconTrash,
} from '@tabler/icons-react';
import type { RegisteredRouter } from '@tanstack/react-router';
import type { Role } from '@/api/contract/accounts';
import type { palette } from '@/app/shell/palette.en';

/** Every address pattern that the router knows. */
type Address = keyof RegisteredRouter['routesByPath'];
export type PageWord = keyof (typeof palette)['pages'];

interface Entry {
  label: PageWord;
  icon: Icon;
  /** The role that opens it; any if left out. */
  role?: Role;
}

/** How the palette comes to a page. */
export type Reach =
  /** By its name in the shell: in the side bar, behind the avatar, or as a tab. */
  | { by: 'navigation' }
  /** From anywhere. */
  | ({ by: 'name' } & Entry)
  /** Taken from the pages below `within`, for any object. */
  | ({ by: 'kin'; within: string } & Entry)
  /** By what it is about, which is looked for by name. */
  | { by: 'search' }
  /** Opened out of another page's list; the palette has it among the recent ones. */
  | { by: 'list' }
  /** Not for those who are signed in. */
  | { by: 'nothing' };

const NAVIGATION: Reach = { by: 'navigation' };
const SEARCH: Reach = { by: 'search' };
const NOTHING: Reach = { by: 'nothing' };
const DATASET = '/datasets/$name';
const TASK = '/labeling/$taskId';

/** A new route does not compile before it is said here how the palette reaches it. */
export const PAGES: Record<Address, Reach> = {
  '/': NAVIGATION,
  '/login': NOTHING,
  '/second-factor': NOTHING,
  '/forgotten': NOTHING,
  '/invite/$token': NOTHING,
  '/reset/$token': NOTHING,
  '/unsubscribe/$link': NOTHING,
  '/shared-run': NOTHING,
  '/notifications': NAVIGATION,
  '/datasets': NAVIGATION,
  '/sources': { by: 'name', label: 'sources', icon: IconDatabaseImport },
  '/uploads': { by: 'name', label: 'uploads', icon: IconCloudUpload, role: 'researcher' },
  '/warm-plans': { by: 'name', label: 'warmPlans', icon: IconFlame },
  '/deleted-datasets': { by: 'name', label: 'deletedDatasets', icon: IconTrash },
  '/datasets/$name': { by: 'kin', within: DATASET, label: 'files', icon: IconDatabase },
  '/datasets/$name/versions': { by: 'kin', within: DATASET, label: 'versions', icon: IconHistory },
  '/datasets/$name/refs': { by: 'kin', within: DATASET, label: 'refs', icon: IconGitBranch },
  '/datasets/$name/diff': { by: 'kin', within: DATASET, label: 'diff', icon: IconGitCompare },
  '/datasets/$name/import': {
    by: 'kin',
    within: DATASET,
    label: 'importing',
    icon: IconDatabaseImport,
    role: 'researcher',
  },
  '/datasets/$name/labels': { by: 'kin', within: DATASET, label: 'exchange', icon: IconArrowsLeftRight },
  '/datasets/$name/cleaning': { by: 'kin', within: DATASET, label: 'cleaning', icon: IconSparkles },
  '/datasets/$name/warm-up': { by: 'kin', within: DATASET, label: 'warmUp', icon: IconFlame },
  '/datasets/$name/keeping': { by: 'kin', within: DATASET, label: 'keeping', icon: IconShieldCheck },
  '/datasets/$name/activity': { by: 'kin', within: DATASET, label: 'activity', icon: IconActivity },
  '/datasets/$name/item': { by: 'list' },
  '/labeling': NAVIGATION,
  '/labeling/$taskId': { by: 'kin', within: TASK, label: 'task', icon: IconPolygon },
  '/labeling/$taskId/work': { by: 'kin', within: TASK, label: 'work', icon: IconBrush, role: 'labeler' },
  '/labeling/$taskId/audit': { by: 'kin', within: TASK, label: 'audit', icon: IconListCheck, role: 'researcher' },
  '/runs': NAVIGATION,
  '/runs/new': { by: 'name', label: 'newRun', icon: IconPlus, role: 'researcher' },
  '/runs/queue': { by: 'name', label: 'queue', icon: IconStack2 },
  '/runs/retention': { by: 'name', label: 'runRetention', icon: IconHourglass },
  '/runs/compare': { by: 'name', label: 'compareRuns', icon: IconArrowsDiff },
  '/runs/$runId': SEARCH,
  '/runs/$runId/predictions': { by: 'list' },
  '/models': NAVIGATION,
  '/models/$name': SEARCH,
  '/models/$name/versions/$n': { by: 'list' },
  '/settings/tokens': NAVIGATION,
  '/settings/s3-keys': NAVIGATION,
  '/settings/secrets': NAVIGATION,
  '/settings/webhooks': NAVIGATION,
  '/settings/run-shares': NAVIGATION,
  '/settings/audit': NAVIGATION,
  '/settings/garbage': NAVIGATION,
  '/settings/machines': NAVIGATION,
  '/settings/clusters': NAVIGATION,
  '/settings/clusters/$cluster': { by: 'list' },
  '/settings/health': NAVIGATION,
  '/settings/stores': NAVIGATION,
  '/settings/members': NAVIGATION,
  '/settings/units': NAVIGATION,
  '/settings/units/$unitId': { by: 'list' },
  '/settings/people': NAVIGATION,
  '/settings/account': NAVIGATION,
  '/settings/notifications': NAVIGATION,
};

export interface Offered extends Entry {
  address: string;
}

/** The pages that `address` leads to, beside those that the shell names; not `address` itself. */
export function pagesFrom(address: string, may: (role: Role) => boolean): { anywhere: Offered[]; kin: Offered[] } {
  const anywhere: Offered[] = [];
  const kin: Offered[] = [];
  for (const [to, reach] of Object.entries(PAGES) as [string, Reach][]) {
    if ((reach.by !== 'name' && reach.by !== 'kin') || to === address) continue;
    if (reach.role && !may(reach.role)) continue;
    const offered = { address: to, label: reach.label, icon: reach.icon, role: reach.role };
    if (reach.by === 'name') anywhere.push(offered);
    else if (address === reach.within || address.startsWith(`${reach.within}/`)) kin.push(offered);
  }
  return { anywhere, kin };
}
