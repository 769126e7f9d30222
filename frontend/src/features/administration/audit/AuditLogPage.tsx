import { ActionIcon, Button, Card, Code, Group, Menu, Popover, Select, Text, TextInput } from '@mantine/core';
import { IconDownload, IconFolderQuestion, IconHistory, IconListDetails, IconSearch } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { type ReactNode, useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { AuditEvent, AuditQuery } from '@/api/contract/accounts';
import { useMe } from '@/shared/domain/me';
import { useProjects } from '@/shared/domain/project';
import { useTyped } from '@/shared/forms/useTyped';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CopyId } from '@/shared/ui/CopyId';
import { IN_PALETTE } from '@/shared/ui/commands';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { AdministrationHeader } from '../AdministrationHeader';
import { useAuditEvents } from '../queries';
import { ObjectLink } from './ObjectLink';

const route = getRouteApi('/settings/audit');

export function AuditLogPage() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const filter = filterOf(search);
  const events = useAuditEvents(filter);
  const columns = useColumns();
  const isAdmin = useMe()?.is_admin === true;
  const unknown = useUnknownFilter(search.in);
  const navigate = route.useNavigate();
  const [round, setRound] = useState(0);
  // The fields begin again from the address.
  const showAll = () => void navigate({ search: {} }).then(() => setRound(round + 1));
  return (
    <Page>
      <AdministrationHeader tab="audit" subtitle={t(isAdmin ? 'settings.auditSubtitleAll' : 'settings.auditSubtitle')}>
        <Export filter={filter} />
      </AdministrationHeader>
      <Group gap="xs" mb="sm">
        <Filters key={round} />
      </Group>
      <Card p={0}>
        <DataTable
          {...events}
          label={t('settings.auditTitle')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<NoEvents unknown={unknown} filtered={Object.values(search).some(Boolean)} onAll={showAll} />}
        />
      </Card>
    </Page>
  );
}

type Search = ReturnType<typeof route.useSearch>;

/** A day in the address is one of the reader's own clock; the last one counts as a whole. */
export function filterOf(search: Search): AuditQuery {
  const start = (day: string | undefined, later: number) => {
    if (day === undefined) return undefined;
    const at = new Date(`${day}T00:00:00`);
    at.setDate(at.getDate() + later);
    return at.toISOString();
  };
  return {
    actor: search.actor,
    verb: search.verb,
    project: search.in,
    object: search.object,
    from: start(search.from, 0),
    to: start(search.to, 1),
  };
}

/** The events of the filter as a file: the browser downloads it, however long it is. */
function Export({ filter }: { filter: AuditQuery }) {
  const { t } = useTranslation();
  const address = (form: 'csv' | 'jsonl') => {
    const given = Object.entries(filter).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
    return `/api/v1/audit/export/?${new URLSearchParams([...given, ['as', form]])}`;
  };
  return (
    <Menu position="bottom-end" {...IN_PALETTE}>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={15} />}>
          {t('settings.auditExport')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={address('csv')} download>
          {t('settings.auditCsv')}
        </Menu.Item>
        <Menu.Item component="a" href={address('jsonl')} download>
          {t('settings.auditJsonLines')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** The project of `?in=` when the person administers none of that name. */
function useUnknownFilter(slug: string | undefined): string | undefined {
  const projects = useProjects().data?.results;
  return slug && projects?.every((project) => project.slug !== slug) ? slug : undefined;
}

interface NoEventsProps {
  unknown: string | undefined;
  filtered: boolean;
  onAll: () => void;
}

function NoEvents({ unknown, filtered, onAll }: NoEventsProps) {
  const { t } = useTranslation();
  const all = filtered && (
    <Button variant="default" onClick={onAll}>
      {t('settings.auditAll')}
    </Button>
  );
  if (unknown !== undefined)
    return <EmptyState icon={IconFolderQuestion} title={t('shell.unknownProject', { slug: unknown })} action={all} />;
  return (
    <EmptyState icon={IconHistory} title={filtered ? t('common.noMatches') : t('settings.auditEmpty')} action={all} />
  );
}

function Filters() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const projects = useProjects().data?.results ?? [];
  const set = (patch: Partial<typeof search>) =>
    void navigate({ search: (old) => ({ ...old, ...patch }), replace: true });
  const choices = projects.map(({ slug, name }) => ({ value: slug, label: name || slug }));
  // The project of the address is shown, whether there is such a project or not.
  if (search.in && projects.every(({ slug }) => slug !== search.in))
    choices.push({ value: search.in, label: search.in });
  return (
    <>
      <Words
        label={t('settings.actorFilter')}
        icon={<IconSearch size={14} />}
        value={search.actor}
        onChange={(actor) => set({ actor })}
      />
      <Words label={t('settings.verbFilter')} w={230} value={search.verb} onChange={(verb) => set({ verb })} />
      <Words
        label={t('settings.objectFilter')}
        value={search.object}
        onChange={(object) => set({ object: object?.trim() || undefined })}
      />
      <Day label={t('settings.fromDay')} value={search.from} onChange={(from) => set({ from })} />
      <Day label={t('settings.toDay')} value={search.to} onChange={(to) => set({ to })} />
      <Select
        size="xs"
        w={150}
        aria-label={t('settings.project')}
        placeholder={t('settings.project')}
        data={choices}
        value={search.in ?? null}
        onChange={(next) => set({ in: next ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
      />
    </>
  );
}

interface WordsProps {
  label: string;
  value: string | undefined;
  onChange: (words: string | undefined) => void;
  icon?: ReactNode;
  w?: number;
}

/** Each field waits for itself: what is typed into the next one takes nothing of it back. */
function Words({ label, value, onChange, icon, w }: WordsProps) {
  const [typed, type] = useTyped(value ?? '', (words) => onChange(words || undefined));
  return (
    <TextInput
      size="xs"
      w={w}
      aria-label={label}
      placeholder={label}
      leftSection={icon}
      value={typed}
      onChange={(event) => type(event.currentTarget.value)}
    />
  );
}

interface DayProps {
  label: string;
  value: string | undefined;
  onChange: (day: string | undefined) => void;
}

/** While a year is typed the browser says 0002, 0020 and 0202 on the way to 2026. */
const isWhole = (day: string) => day === '' || day >= '1000';

function Day({ label, value, onChange }: DayProps) {
  const [typed, type] = useTyped(value ?? '', (day) => {
    if (isWhole(day)) onChange(day || undefined);
  });
  return (
    <Group gap={6} wrap="nowrap">
      <Text size="xs" c="dimmed" aria-hidden>
        {label}
      </Text>
      <TextInput
        size="xs"
        type="date"
        aria-label={label}
        max="9999-12-31"
        value={typed}
        onChange={(event) => type(event.currentTarget.value)}
      />
    </Group>
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
        cell: (event) => <ObjectLink event={event} />,
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
