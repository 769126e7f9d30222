import { Badge, Button, Card, Group, Select, Stack, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { IconSearch, IconUserPlus, IconUsers } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Member, Role } from '@/api/contract/accounts';
import { useMe } from '@/shared/domain/me';
import { useHiding } from '@/shared/domain/useHiding';
import { type Column, DataTable } from '@/shared/grid/DataTable';
import { useCommands } from '@/shared/ui/commands';
import { EmptyState } from '@/shared/ui/EmptyState';
import { EndButton } from '@/shared/ui/EndButton';
import { AnchorLink } from '@/shared/ui/links';
import { useShortcuts } from '@/shared/ui/shortcuts';
import { notifyError, notifySuccess } from '@/shared/ui/undo';
import { AddMember } from './AddMember';
import { PersonName } from './PersonName';
import type { Place } from './place';
import { changeRole, type MemberFilter, removeMember, useMembers, useRefreshMembers } from './queries';
import { RoleSelect, useRoles } from './RoleSelect';

interface MembersTabProps {
  place: Place;
  filter: MemberFilter;
  onFilter: (patch: MemberFilter) => void;
}

export function MembersTab({ place, filter, onFilter }: MembersTabProps) {
  const { t } = useTranslation();
  const [adding, setAdding] = useState(false);
  const members = useMembers(place, { q: filter.q, role: filter.role });
  const refresh = useRefreshMembers(place);
  const { hidden, end } = useHiding();
  const remove = ({ id, username }: Member) =>
    end(id, {
      message: t('people.removing', { name: username }),
      done: t('people.removed', { name: username }),
      send: () => removeMember(place, id),
      refresh,
    });
  const rows = useMemo(() => members.rows?.filter(({ id }) => !hidden.has(id)), [members.rows, hidden]);
  const columns = useColumns(place, remove);
  const open = () => setAdding(true);
  useShortcuts([{ keys: 'N', label: t('people.add'), run: open }]);
  useCommands([{ id: 'add-member', label: t('people.add'), icon: IconUserPlus, run: open }]);
  const filtered = Boolean(filter.q || filter.role);
  return (
    <Stack>
      <Group>
        <Filters filter={filter} onFilter={onFilter} />
        <Button ml="auto" leftSection={<IconUserPlus size={15} />} onClick={open} data-first-action>
          {t('people.add')}
        </Button>
      </Group>
      <Card p={0}>
        <DataTable
          {...members}
          rows={rows}
          label={t('people.members')}
          columns={columns}
          rowKey={({ id }) => id}
          empty={<EmptyState icon={IconUsers} title={filtered ? t('common.noMatches') : t('people.nobody')} />}
        />
      </Card>
      <AddMember place={place} opened={adding} onClose={() => setAdding(false)} />
    </Stack>
  );
}

function Filters({ filter, onFilter }: Omit<MembersTabProps, 'place'>) {
  const { t } = useTranslation();
  const roles = useRoles();
  const setSoon = useDebouncedCallback(onFilter, 300);
  return (
    <>
      <TextInput
        size="xs"
        aria-label={t('people.search')}
        placeholder={t('people.search')}
        leftSection={<IconSearch size={14} />}
        defaultValue={filter.q ?? ''}
        onChange={(event) => setSoon({ q: event.currentTarget.value.trim() || undefined })}
      />
      <Select
        size="xs"
        w={150}
        aria-label={t('people.roleFilter')}
        placeholder={t('people.anyRole')}
        data={roles}
        value={filter.role ?? null}
        onChange={(role) => onFilter({ role: (role as Role | null) ?? undefined })}
        clearable
        clearButtonProps={{ 'aria-label': t('common.clear') }}
      />
    </>
  );
}

function useColumns(place: Place, remove: (member: Member) => void): Column<Member>[] {
  const { t } = useTranslation();
  return [
    {
      key: 'name',
      header: t('people.person'),
      cell: (member) => <PersonName person={member} />,
    },
    { key: 'email', header: t('people.email'), from: 'md', cell: ({ email }) => email || '–' },
    { key: 'role', header: t('people.role'), cell: (member) => <MemberRole place={place} member={member} /> },
    { key: 'source', header: t('people.from'), from: 'sm', cell: (member) => <Sources member={member} /> },
    {
      key: 'remove',
      header: t('common.actions'),
      align: 'right',
      cell: (member) =>
        member.direct_role && (
          <EndButton
            label={t('people.remove')}
            name={t('people.removeName', { name: member.username })}
            onEnd={() => remove(member)}
          />
        ),
    },
  ];
}

function MemberRole({ place, member }: { place: Place; member: Member }) {
  const { t } = useTranslation();
  const refresh = useRefreshMembers(place);
  const me = useMe();
  const [busy, setBusy] = useState(false);
  const roles = useRoles();
  const word = (role: Role) => roles.find(({ value }) => value === role)?.label ?? role;
  if (!member.direct_role)
    return (
      <Stack gap={2} align="flex-start">
        <Badge size="sm" color="gray">
          {word(member.role)}
        </Badge>
        {/* A phone has no room for the column that says where roles are from. */}
        <Text size="xs" c="dimmed" hiddenFrom="sm">
          {member.sources.map(({ through }) => through?.name).join(', ')}
        </Text>
      </Stack>
    );
  const change = (role: Role) => {
    setBusy(true);
    void changeRole(place, member.id, role)
      .then(() => notifySuccess(t('people.roleChanged', { name: member.username, role: word(role) })))
      .catch(notifyError)
      .finally(() => {
        setBusy(false);
        void refresh();
      });
  };
  return (
    <Stack gap={2}>
      <RoleSelect
        size="xs"
        w={{ base: 122, xs: 140 }}
        aria-label={t('people.roleOf', { name: member.username })}
        value={member.direct_role}
        disabled={busy}
        onChange={change}
      />
      {member.role !== member.direct_role && (
        <Text size="xs" c="dimmed">
          {t('people.counts', { role: word(member.role) })}
        </Text>
      )}
      {me?.id === member.id && (
        <Text size="xs" c="dimmed">
          {t('people.you')}
        </Text>
      )}
    </Stack>
  );
}

function Sources({ member }: { member: Member }) {
  const { t } = useTranslation();
  return (
    <Stack gap={0}>
      {member.sources.map(({ role, through }) => (
        <Text key={through?.id ?? 'direct'} size="sm" component="div">
          {through ? (
            <>
              {t('people.through', { role: t(`people.roles.${role}`) })}{' '}
              <AnchorLink
                to="/settings/units/$unitId"
                params={{ unitId: through.id }}
                search={{ tab: 'members' }}
                fz="inherit"
                underline="always"
              >
                {through.name}
              </AnchorLink>
            </>
          ) : (
            t('people.direct')
          )}
        </Text>
      ))}
    </Stack>
  );
}
