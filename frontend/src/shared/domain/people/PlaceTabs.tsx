import { Tabs } from '@mantine/core';
import { IconMail, IconRobot, IconUsers } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { InvitationsTab } from './InvitationsTab';
import { MembersTab } from './MembersTab';
import type { Place } from './place';
import type { MemberFilter } from './queries';
import { ServiceTab } from './ServiceTab';

type Tab = 'members' | 'invitations' | 'service' | 'projects';
export type PlaceSearch = MemberFilter & { tab?: Tab };

interface PlaceTabsProps {
  place: Place;
  search: PlaceSearch;
  onSearch: (patch: PlaceSearch) => void;
  /** The projects of a unit come first. */
  projects?: ReactNode;
}

/** The members of a project or unit. */
export function PlaceTabs({ place, search, onSearch, projects }: PlaceTabsProps) {
  const { t } = useTranslation();
  const first: Tab = projects ? 'projects' : 'members';
  const tab = search.tab === 'projects' && !projects ? first : (search.tab ?? first);
  return (
    <Tabs
      value={tab}
      onChange={(next) => onSearch({ tab: next === first ? undefined : (next as Tab) })}
      keepMounted={false}
    >
      <Tabs.List mb="md">
        {projects && <Tabs.Tab value="projects">{t('people.projects')}</Tabs.Tab>}
        <Tabs.Tab value="members" leftSection={<IconUsers size={15} />}>
          {t('people.members')}
        </Tabs.Tab>
        <Tabs.Tab value="invitations" leftSection={<IconMail size={15} />}>
          {t('people.invitations')}
        </Tabs.Tab>
        <Tabs.Tab value="service" leftSection={<IconRobot size={15} />}>
          {t('people.service')}
        </Tabs.Tab>
      </Tabs.List>
      {projects && <Tabs.Panel value="projects">{projects}</Tabs.Panel>}
      <Tabs.Panel value="members">
        <MembersTab place={place} filter={search} onFilter={onSearch} />
      </Tabs.Panel>
      <Tabs.Panel value="invitations">
        <InvitationsTab place={place} />
      </Tabs.Panel>
      <Tabs.Panel value="service">
        <ServiceTab place={place} />
      </Tabs.Panel>
    </Tabs>
  );
}
