import { Button, Card, Code, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api, api, keyOf } from '@/api/client';
import type { GitHost } from '@/api/contract/jobs';
import { KEYSET, useKeysetRows } from '@/api/keyset';
import { useMay, useProject } from '@/shared/domain/project';
import { useRevocation } from '@/shared/domain/useRevocation';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { focusNeighbour } from '@/shared/ui/focusBack';
import { RelativeTime } from '@/shared/ui/RelativeTime';

const HOSTS = '/api/v1/projects/{project}/git-hosts/';

/** SSH servers that the project has fetched code from; nothing until there is one. */
export function GitHosts() {
  const { t } = useTranslation();
  const project = useProject();
  const mayForget = useMay('admin');
  const client = useQueryClient();
  const init = { params: { path: { project }, query: { limit: 100 } } };
  const hosts = useKeysetRows($api.useInfiniteQuery('get', HOSTS, init, KEYSET));
  const { hidden, revoke } = useRevocation({
    send: (name) => api.DELETE(`${HOSTS}{name}/`, { params: { path: { project, name } } }),
    refresh: () => client.invalidateQueries({ queryKey: keyOf(HOSTS) }),
    words: (name) => ({ revoking: t('git.forgetting', { name }), done: t('git.forgotten', { name }) }),
  });
  const rows = hosts.rows?.filter(({ name }) => !hidden.has(name)) ?? [];
  if (rows.length === 0 && !hosts.error) return null;
  const columns: Column<GitHost>[] = [
    { key: 'name', header: t('git.host'), cell: ({ name }) => name },
    { key: 'key', header: t('git.key'), from: 'sm', cell: ({ key }) => <Code>{key}</Code> },
    { key: 'known', header: t('git.known'), from: 'xs', cell: ({ created_at }) => <RelativeTime at={created_at} /> },
    ...(mayForget
      ? [
          {
            key: 'actions',
            header: t('common.actions'),
            align: 'right' as const,
            cell: ({ name }: GitHost) => (
              <Button
                size="compact-xs"
                variant="light"
                color="red"
                aria-label={t('git.forgetName', { name })}
                data-takes-row
                onClick={(event) => {
                  focusNeighbour(event.currentTarget);
                  revoke({ id: name, name });
                }}
              >
                {t('git.forget')}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Title order={2} fz="md" mt="xl">
        {t('git.hosts')}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {t('git.hostsHint')}
      </Text>
      <Card p={0}>
        <DataTable
          {...hosts}
          rows={rows}
          label={t('git.hosts')}
          columns={columns}
          rowKey={({ name }) => name}
          empty={null}
        />
      </Card>
    </>
  );
}
