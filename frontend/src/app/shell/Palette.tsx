import '@mantine/spotlight/styles.css';
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import {
  IconFolders,
  IconKeyboard,
  IconLanguage,
  IconLogout,
  IconMoon,
  IconPlus,
  IconSearch,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { LANGUAGES, type Language } from '@/i18n';
import { useRegisteredCommands } from '@/shared/commands';
import { useFocusBack } from '@/shared/focusBack';
import { rememberProject, useProjects, useRights } from '@/shared/project';
import { signOut } from '../session';
import { chooseLanguage } from './LanguageMenu';
import { navigationFor } from './navigation';
import { Keys } from './ShortcutSheet';
import { useFound } from './useFound';
import { useSchemeToggle } from './useSchemeToggle';

const [store, control] = createSpotlight();

interface PaletteProps {
  onClose: () => void;
  onShortcuts: () => void;
}

/** Ctrl+K: every page, the actions of the page shown, and the settings of the shell. */
export default function Palette({ onClose, onShortcuts }: PaletteProps) {
  const { t } = useTranslation();
  useFocusBack();
  useEffect(() => {
    control.open();
    return control.close;
  }, []);
  const [query, setQuery] = useState('');
  const groups = [usePageActions(), useGoTo(), useShellActions(onShortcuts), useProjectActions(), ...useFound(query)];
  return (
    <Spotlight
      store={store}
      shortcut={null}
      query={query}
      onQueryChange={setQuery}
      highlightQuery
      scrollable
      maxHeight={420}
      onSpotlightClose={onClose}
      // Open and focused within the key press: what is typed right after it must not be lost.
      transitionProps={{ duration: 0 }}
      attributes={{ content: { 'aria-label': t('shell.openPalette') } }}
      nothingFound={t('common.noMatches')}
      searchProps={{
        leftSection: <IconSearch size={16} />,
        placeholder: t('shell.palette'),
        'aria-label': t('shell.palette'),
        autoFocus: true,
      }}
      actions={groups.filter((group) => group.actions.length > 0)}
    />
  );
}

function usePageActions(): SpotlightActionGroupData {
  const { t } = useTranslation();
  const actions = useRegisteredCommands().map(
    ({ id, label, description, icon: Glyph, run }): SpotlightActionData => ({
      id: `page-${id}`,
      label,
      description,
      leftSection: Glyph ? <Glyph size={18} /> : undefined,
      onClick: run,
    }),
  );
  return { group: t('shell.thisPage'), actions };
}

function useGoTo(): SpotlightActionGroupData {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const rights = useRights();
  const actions = navigationFor(rights)
    .flatMap((group) => group.items)
    .map(
      (item): SpotlightActionData => ({
        id: `go-${item.key}`,
        label: t(`nav.${item.key}`),
        keywords: [item.key, item.to],
        leftSection: <item.icon size={18} />,
        rightSection: item.keys ? <Keys keys={item.keys} /> : undefined,
        onClick: () => void navigate({ to: item.to }),
      }),
    );
  const newRun: SpotlightActionData = {
    id: 'go-new-run',
    label: t('nav.newRun'),
    keywords: ['new run'],
    leftSection: <IconPlus size={18} />,
    onClick: () => void navigate({ to: '/runs/new' }),
  };
  return { group: t('shell.goTo'), actions: [...actions, newRun] };
}

function useShellActions(onShortcuts: () => void): SpotlightActionGroupData {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const toggleScheme = useSchemeToggle();
  const actions: SpotlightActionData[] = [
    {
      id: 'theme',
      label: t('shell.toggleTheme'),
      keywords: ['theme', 'dark', 'light'],
      leftSection: <IconMoon size={18} />,
      onClick: toggleScheme,
    },
    {
      id: 'shortcuts',
      label: t('shell.shortcuts'),
      keywords: ['keyboard'],
      leftSection: <IconKeyboard size={18} />,
      onClick: onShortcuts,
    },
    ...(Object.keys(LANGUAGES) as Language[]).map((language) => ({
      id: `language-${language}`,
      label: LANGUAGES[language],
      keywords: ['language', t('shell.language')],
      leftSection: <IconLanguage size={18} />,
      onClick: () => chooseLanguage(language),
    })),
    {
      id: 'sign-out',
      label: t('shell.signOut'),
      keywords: ['logout', 'sign out'],
      leftSection: <IconLogout size={18} />,
      onClick: () => void signOut().then(() => navigate({ to: '/login', search: {} })),
    },
  ];
  return { group: t('common.actions'), actions };
}

function useProjectActions(): SpotlightActionGroupData {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const actions = (useProjects().data?.results ?? []).map(
    (project): SpotlightActionData => ({
      id: `project-${project.slug}`,
      label: project.name || project.slug,
      description: project.slug,
      leftSection: <IconFolders size={18} />,
      onClick: () => {
        rememberProject(project.slug);
        void navigate({ to: '/', search: { project: project.slug } });
      },
    }),
  );
  return { group: t('shell.projects'), actions };
}
