import { ActionIcon, Card, Code, Popover, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconHistory, IconListDetails, IconSearch } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEvent } from '@/api/contract/accounts';
import { CopyId } from '@/shared/CopyId';
import { type Column, DataTable } from '@/shared/DataTable';
import { EmptyState } from '@/shared/EmptyState';
import { Page } from '@/shared/Page';
import { PageHeader } from '@/shared/PageHeader';
import { useProjects } from '@/shared/project';
import { RelativeTime } from '@/shared/RelativeTime';
import { useAuditEvents } from '../queries';

const route = getRouteApi('/settings/audit');

export function AuditLogPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const events = useAuditEvents({ actor: search.actor, verb: search.verb, project: search.in });
  const columns = useColumns();
  const filtered = search.actor || search.verb || search.in;
  return (
    <Page>
      <PageHeader title={t('settings.auditTitle')} subtitle={t('settings.auditSubtitle')}>
        <Filters />
      </PageHeader>
      <Card p={0}>
        <DataTable
          {...events}
          label={t('settings.auditTitle')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={
            <EmptyState
              icon={IconHistory}
              title={t('settings.auditEmpty')}
              hint={filtered ? t('common.noMatches') : t('settings.auditEmptyHint')}
            />
          }
        />
      </Card>
    </Page>
  );
}

function Filters() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const projects = useProjects().data?.results ?? [];
  const set = (patch: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...patch }), replace: true });
  const setSoon = useDebouncedCallback(set, 300);
  return (
    <>
      <TextInput
        size="xs"
        aria-label={t('settings.actorFilter')}
        placeholder={t('settings.actorFilter')}
        leftSection={<IconSearch size={14} />}
        defaultValue={search.actor ?? ''}
        onChange={(event) => setSoon({ actor: event.currentTarget.value || undefined })}
      />
      <TextInput
        size="xs"
        w={230}
        aria-label={t('settings.verbFilter')}
        placeholder={t('settings.verbFilter')}
        defaultValue={search.verb ?? ''}
        onChange={(event) => setSoon({ verb: event.currentTarget.value || undefined })}
      />
      <Select
        size="xs"
        w={150}
        aria-label={t('settings.project')}
        placeholder={t('settings.project')}
        data={projects.map(({ slug, name }) => ({ value: slug, label: name || slug }))}
        value={search.in ?? null}
        onChange={(next) => set({ in: next ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
      />
    </>
  );
}

function useColumns(): Column<AuditEvent>[] {
  const { t } = useTranslation();
  return useMemo<Column<AuditEvent>[]>(
    () => [
      { key: 'at', header: t('settings.at'), width: 130, cell: ({ at }) => <RelativeTime at={at} /> },
      { key: 'actor', header: t('settings.actor'), cell: ({ actor }) => actor || t('settings.system') },
      { key: 'verb', header: t('settings.verb'), cell: ({ verb }) => <Code>{verb}</Code> },
      {
        key: 'object',
        header: t('settings.object'),
        cell: ({ object_type, object_id }) => (
          <>
            {object_type} {object_id && <CopyId value={object_id} />}
          </>
        ),
      },
      { key: 'project', header: t('settings.project'), from: 'sm', cell: ({ project }) => project ?? '–' },
      {
        key: 'request',
        header: t('settings.requestId'),
        from: 'lg',
        cell: ({ request_id }) => (request_id ? <CopyId value={request_id} /> : '–'),
      },
      { key: 'data', header: t('common.details'), align: 'right', cell: (event) => <EventData event={event} /> },
    ],
    [t],
  );
}

function EventData({ event }: { event: AuditEvent }) {
  const { t } = useTranslation();
  if (Object.keys(event.data).length === 0) return null;
  return (
    <Popover position="left" shadow="md" returnFocus trapFocus>
      <Popover.Target>
        <ActionIcon size="sm" color="gray" aria-label={t('settings.details', { verb: event.verb })}>
          <IconListDetails size={15} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown>
        <Code block tabIndex={0} mah={320} maw={460} style={{ overflow: 'auto' }}>
          {JSON.stringify(event.data, null, 2)}
        </Code>
      </Popover.Dropdown>
    </Popover>
  );
}
