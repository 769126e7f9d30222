import { useDebouncedValue } from '@mantine/hooks';
import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import { type Icon, IconBox, IconDatabase, IconPlayerPlay, IconPolygon, IconUser } from '@tabler/icons-react';
import { keepPreviousData } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/api/client';
import { useProject, useRights } from '@/shared/domain/project';

const PAUSE_MS = 200;
const MOST_OF_EACH = 5;

/** The first things of the project whose names hold `typed`, asked of the lists after a pause in typing. */
function useLists(typed: string) {
  const project = useProject();
  const [q] = useDebouncedValue(typed.trim(), PAUSE_MS);
  const init = { params: { path: { project }, query: { q, limit: MOST_OF_EACH } } };
  const rights = useRights();
  const asked = q !== '';
  const options = { enabled: asked && project !== '', placeholderData: keepPreviousData };
  const ofPeople = { q, limit: MOST_OF_EACH };
  return {
    datasets: $api.useQuery('get', '/api/v1/projects/{project}/datasets/', init, options),
    tasks: $api.useQuery('get', '/api/v1/projects/{project}/labelx/tasks/', init, options),
    runs: $api.useQuery('get', '/api/v1/projects/{project}/runs/', init, options),
    models: $api.useQuery('get', '/api/v1/projects/{project}/models/', init, options),
    members: $api.useQuery('get', '/api/v1/projects/{project}/members/', init, {
      ...options,
      enabled: options.enabled && rights.here && !rights.installation,
    }),
    everybody: $api.useQuery(
      'get',
      '/api/v1/people/',
      { params: { query: ofPeople } },
      { enabled: asked && rights.installation, placeholderData: keepPreviousData },
    ),
  };
}

const action = (id: string, label: string, Glyph: Icon, onClick: () => void): SpotlightActionData => ({
  id,
  label,
  leftSection: <Glyph size={18} />,
  onClick,
});

/** Datasets, labeling tasks, runs, models and, for those who administer them, people by name; nothing before something is typed. */
export function useFound(typed: string): SpotlightActionGroupData[] {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const { datasets, tasks, runs, models, members, everybody } = useLists(typed);
  if (typed.trim() === '') return [];
  return [
    {
      group: t('nav.datasets'),
      actions: (datasets.data?.results ?? []).map(({ id, name }) =>
        action(`dataset-${id}`, name, IconDatabase, () => void navigate({ to: '/datasets/$name', params: { name } })),
      ),
    },
    {
      group: t('nav.labeling'),
      actions: (tasks.data?.results ?? []).map(({ id, name }) =>
        action(
          `task-${id}`,
          name,
          IconPolygon,
          () => void navigate({ to: '/labeling/$taskId', params: { taskId: id } }),
        ),
      ),
    },
    {
      group: t('nav.runs'),
      actions: (runs.data?.results ?? []).map(({ id, name, number }) => ({
        ...action(`run-${id}`, name || `#${number}`, IconPlayerPlay, () => {
          void navigate({ to: '/runs/$runId', params: { runId: id } });
        }),
        description: `#${number}`,
      })),
    },
    {
      group: t('nav.models'),
      actions: (models.data?.results ?? []).map(({ id, name }) =>
        action(`model-${id}`, name, IconBox, () => void navigate({ to: '/models/$name', params: { name } })),
      ),
    },
    {
      group: t('palette.people'),
      actions: [
        ...(members.data?.results ?? []).map(({ id, username, full_name }) => ({
          ...action(
            `member-${id}`,
            username,
            IconUser,
            () => void navigate({ to: '/settings/members', search: { q: username } }),
          ),
          description: full_name,
        })),
        ...(everybody.data?.results ?? []).map(({ id, username, full_name }) => ({
          ...action(
            `person-${id}`,
            username,
            IconUser,
            () => void navigate({ to: '/settings/people', search: { q: username } }),
          ),
          description: full_name,
        })),
      ],
    },
  ];
}
