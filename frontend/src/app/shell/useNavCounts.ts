import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import { useProject } from '@/shared/domain/project';
import { usePollMs } from '@/shared/live/projectLive';
import type { NavItem } from './navigation';

/** For a socket that cannot be opened: the end of active runs is to be seen soon. */
const ACTIVE_POLL_MS = 5000;
const IDLE_POLL_MS = 60_000;

export type NavCounts = Partial<Record<NavItem['key'], { value: number; label: string }>>;

/** Numbers behind an entry: active runs, open labeling items. The overview page reads the same answer. */
export function useNavCounts(): NavCounts {
  const { t } = useTranslation();
  const project = useProject();
  const poll = usePollMs();
  const path = '/api/v1/projects/{project}/overview/';
  const { data } = $api.useQuery(
    'get',
    path,
    { params: { path: { project } } },
    {
      enabled: project !== '',
      refetchInterval: ({ state: { data } }) =>
        poll(data && data.runs.running + data.runs.queued > 0 ? ACTIVE_POLL_MS : IDLE_POLL_MS),
    },
  );
  if (!data) return {};
  const active = data.runs.running + data.runs.queued;
  const open = data.labeling.open_items;
  return {
    ...(active > 0 && { runs: { value: active, label: t('nav.activeRuns', { count: active }) } }),
    ...(open > 0 && { labeling: { value: open, label: t('nav.openItems', { count: open }) } }),
  };
}
