import { Badge, Button, Card, Group, Menu, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import {
  IconDotsVertical,
  IconKey,
  IconLogout,
  IconSearch,
  IconShieldOff,
  IconUserOff,
  IconUsers,
} from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { PersonAccount } from '@/api/contract/accounts';
import { useMe } from '@/shared/domain/me';
import { PersonName } from '@/shared/domain/people/PersonName';
import { useRights } from '@/shared/domain/project';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { CommandLine } from '@/shared/ui/CommandLine';
import { Dialog, ShownOnce } from '@/shared/ui/Dialog';
import { EmptyState } from '@/shared/ui/EmptyState';
import { Forbidden } from '@/shared/ui/Forbidden';
import { Page } from '@/shared/ui/Page';
import { RelativeTime } from '@/shared/ui/RelativeTime';
import { confirmUndo, notifyError, notifySuccess } from '@/shared/ui/undo';
import { Count } from '@/shared/ui/values';
import { AdministrationHeader } from '../AdministrationHeader';
import {
  endSessionsOf,
  makeResetLink,
  resetSecondFactor,
  setPersonActive,
  usePeople,
  useRefreshPeople,
} from './queries';

const route = getRouteApi('/settings/people');

/** Everybody with an account, for administrators of the installation. */
export function PeoplePage() {
  const { t } = useTranslation();
  const { installation } = useRights();
  const me = useMe();
  if (installation) return <People />;
  return (
    <Page>
      <AdministrationHeader tab="everybody" subtitle={t('people.peopleSubtitle')} />
      {me && <Forbidden by="installation" hint={t('people.peopleForbidden')} />}
    </Page>
  );
}

function People() {
  const { t } = useTranslation();
  const { q, state } = route.useSearch();
  const people = usePeople({ q, state });
  const [link, setLink] = useState<{ name: string; link: string } | null>(null);
  const columns = useColumns((name, made) => setLink({ name, link: made }));
  return (
    <Page>
      <AdministrationHeader tab="everybody" subtitle={t('people.peopleSubtitle')}>
        <Filters />
      </AdministrationHeader>
      <Card p={0}>
        <DataTable
          {...people}
          label={t('people.peopleTitle')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconUsers} title={t('common.noMatches')} />}
        />
      </Card>
      <Dialog
        opened={link !== null}
        onClose={() => setLink(null)}
        title={t('people.resetLinkFor', { name: link?.name ?? '' })}
      >
        <ShownOnce>
          <Stack>
            <Text size="sm">{t('people.resetLinkHint', { name: link?.name ?? '' })}</Text>
            <CommandLine command={link?.link ?? ''} what={t('people.resetLink')} />
            <Group justify="flex-end">
              <Button onClick={() => setLink(null)}>{t('common.done')}</Button>
            </Group>
          </Stack>
        </ShownOnce>
      </Dialog>
    </Page>
  );
}

function Filters() {
  const { t } = useTranslation();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const set = (patch: typeof search) => void navigate({ search: (old) => ({ ...old, ...patch }), replace: true });
  const setSoon = useDebouncedCallback(set, 300);
  return (
    <>
      <TextInput
        size="xs"
        aria-label={t('people.search')}
        placeholder={t('people.search')}
        leftSection={<IconSearch size={14} />}
        defaultValue={search.q ?? ''}
        onChange={(event) => setSoon({ q: event.currentTarget.value.trim() || undefined })}
      />
      <Select
        size="xs"
        w={160}
        aria-label={t('people.state')}
        placeholder={t('people.anyState')}
        data={[
          { value: 'active', label: t('people.activeOnly') },
          { value: 'inactive', label: t('people.inactiveOnly') },
        ]}
        value={search.state ?? null}
        onChange={(state) => set({ state: (state as 'active' | 'inactive' | null) ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
      />
    </>
  );
}

function useColumns(onLink: (name: string, link: string) => void): Column<PersonAccount>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'name',
      header: t('people.person'),
      cell: (person) => (
        <Group gap={6} wrap="nowrap">
          <PersonName person={person} />
          {person.is_admin && (
            <Badge size="xs" color="orange">
              {t('people.administrator')}
            </Badge>
          )}
          {person.has_second_factor && (
            <Badge size="xs" color="teal">
              {t('secondFactor.badge')}
            </Badge>
          )}
        </Group>
      ),
    },
    { key: 'email', header: t('people.email'), from: 'md', cell: ({ email }) => email || '–' },
    {
      key: 'roles',
      header: t('people.rolesCount'),
      align: 'right',
      from: 'sm',
      cell: ({ role_count }) => <Count value={role_count} />,
    },
    {
      key: 'sessions',
      header: t('people.sessionsCount'),
      align: 'right',
      from: 'md',
      cell: ({ session_count }) => <Count value={session_count} />,
    },
    {
      key: 'seen',
      header: t('people.lastSeen'),
      from: 'sm',
      cell: ({ last_seen_at }) => <RelativeTime at={last_seen_at} />,
    },
    {
      key: 'act',
      header: t('common.actions'),
      align: 'right',
      cell: (person) => <Actions person={person} onLink={onLink} />,
    },
  ];
}

interface ActionsProps {
  person: PersonAccount;
  onLink: (name: string, link: string) => void;
}

function Actions({ person: { id, username, is_active, has_second_factor }, onLink }: ActionsProps) {
  const { t } = useTranslation();
  const refresh = useRefreshPeople();
  const me = useMe();
  const set = async (next: boolean) => {
    await setPersonActive(id, next);
    notifySuccess(t(next ? 'people.activated' : 'people.deactivated', { name: username }));
    await refresh();
  };
  const deactivate = () =>
    confirmUndo({
      message: t('people.deactivatingPerson', { name: username }),
      commit: () => set(false),
      rollback: () => {},
    });
  const end = () =>
    confirmUndo({
      message: t('people.sessionsEnding', { name: username }),
      commit: async () => {
        await endSessionsOf(id);
        notifySuccess(t('people.sessionsEnded', { name: username }));
        await refresh();
      },
      rollback: () => {},
    });
  const resetFactor = () =>
    confirmUndo({
      message: t('secondFactor.resetting', { name: username }),
      commit: async () => {
        await resetSecondFactor(id);
        notifySuccess(t('secondFactor.resetDone', { name: username }));
        await refresh();
      },
      rollback: () => {},
    });
  const link = () =>
    void makeResetLink(id)
      .then((made) => onLink(username, made))
      .catch(notifyError);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="compact-xs" variant="default" aria-label={`${t('common.actions')}: ${username}`}>
          <IconDotsVertical size={14} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {is_active && (
          <Menu.Item leftSection={<IconKey size={15} />} onClick={link}>
            {t('people.resetLink')}
          </Menu.Item>
        )}
        <Menu.Item leftSection={<IconLogout size={15} />} onClick={end}>
          {t('people.endSessions')}
        </Menu.Item>
        {has_second_factor && (
          <Menu.Item leftSection={<IconShieldOff size={15} />} onClick={resetFactor}>
            {t('secondFactor.reset')}
          </Menu.Item>
        )}
        {is_active ? (
          <Menu.Item color="red" leftSection={<IconUserOff size={15} />} onClick={deactivate} disabled={me?.id === id}>
            {t('people.deactivate')}
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<IconUsers size={15} />} onClick={() => void set(true).catch(notifyError)}>
            {t('people.activate')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
