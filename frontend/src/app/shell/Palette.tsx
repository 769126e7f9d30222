import '@mantine/spotlight/styles.css';
import {
  createSpotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight';
import { type Icon, IconClockHour4, IconSearch } from '@tabler/icons-react';
import { useNavigate, useParams, useRouterState } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { palette } from '@/app/shell/palette.en';
import { addWords } from '@/i18n';
import { useMay, useRights } from '@/shared/domain/project';
import { useRegisteredCommands } from '@/shared/ui/commands';
import { useFocusBack } from '@/shared/ui/focusBack';
import { namedPagesFor } from './navigation';
import { pageActions } from './pageActions';
import { type Offered, pagesFrom } from './pages';
import { recentPages } from './recent';
import { Keys } from './ShortcutSheet';
import { useFound } from './useFound';
import { useProjectActions, useShellActions } from './useShellActions';

addWords({ palette });
const [store, control] = createSpotlight();

interface PaletteProps {
  onClose: () => void;
  onShortcuts: () => void;
}

/**
 * Ctrl+K: the actions of the page shown, every page, recent pages, and the settings of the shell. Actions that the
 * reader may not take are not on the page, and so not here.
 */
export default function Palette({ onClose, onShortcuts }: PaletteProps) {
  const { t } = useTranslation();
  useFocusBack();
  useEffect(() => {
    control.open();
    return control.close;
  }, []);
  const [query, setQuery] = useState('');
  const page = usePageActions();
  const goTo = useGoTo();
  const groups = [
    page.everywhere,
    goTo.kin,
    useRecent(),
    goTo.anywhere,
    useShellActions(onShortcuts),
    useProjectActions(),
    ...useFound(query),
    // Every row of a list has its buttons: only for those who name one.
    ...(query.trim() === '' ? [] : [page.inRows]),
  ];
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

/** The commands that the page registered, then every other button and link on it. */
function usePageActions(): { everywhere: SpotlightActionGroupData; inRows: SpotlightActionGroupData } {
  const { t } = useTranslation();
  // Read once: behind the open palette the page is hidden from everybody.
  const [found] = useState(pageActions);
  const commands = useRegisteredCommands();
  const registered = commands.map(
    ({ id, label, description, icon: Glyph, run }): SpotlightActionData => ({
      id: `page-${id}`,
      label,
      description,
      leftSection: Glyph ? <Glyph size={18} /> : undefined,
      onClick: run,
    }),
  );
  const labels = new Set(commands.map(({ label }) => label));
  const others = found.map(({ label, place, inRow, run }, index) => ({
    inRow,
    action: { id: `control-${index}`, label, description: place || undefined, onClick: run },
  }));
  const beside = others.filter(({ inRow, action }) => !inRow && !labels.has(action.label));
  return {
    everywhere: { group: t('shell.thisPage'), actions: [...registered, ...beside.map(({ action }) => action)] },
    inRows: {
      group: t('palette.inLists'),
      actions: others.filter(({ inRow }) => inRow).map(({ action }) => action),
    },
  };
}

/** In Chinese the English word finds it too. */
const both = (label: string, english: string) => (label === english ? [] : [english]);

function useGoTo(): { kin: SpotlightActionGroupData; anywhere: SpotlightActionGroupData } {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const rights = useRights();
  const params = useParams({ strict: false });
  const address = useRouterState({ select: ({ matches }) => matches.at(-1)?.fullPath ?? '' });
  const roles = { viewer: true, labeler: useMay('labeler'), researcher: useMay('researcher'), admin: rights.here };
  const { anywhere, kin } = pagesFrom(address, (role) => roles[role]);
  const page = ({ address: to, label: word, icon: Glyph }: Offered): SpotlightActionData => ({
    id: `go-${to}`,
    label: t(`palette.pages.${word}`),
    description: params.name,
    keywords: [to, ...both(t(`palette.pages.${word}`), palette.pages[word])],
    leftSection: <Glyph size={18} />,
    onClick: () => void navigate({ to, params } as Parameters<typeof navigate>[0]),
  });
  const entries = namedPagesFor(rights).map(
    (named): SpotlightActionData => ({
      id: `go-${named.key}`,
      label: t(`nav.${named.key}`),
      keywords: [named.key, named.to, t(`nav.${named.key}`, { lng: 'en' })],
      leftSection: <named.icon size={18} />,
      rightSection: named.keys ? <Keys keys={named.keys} /> : undefined,
      onClick: () => void navigate({ to: named.to }),
    }),
  );
  return {
    kin: { group: t('palette.kin'), actions: kin.map(page) },
    anywhere: {
      group: t('shell.goTo'),
      actions: [...entries, ...anywhere.map((one) => ({ ...page(one), description: undefined }))],
    },
  };
}

const RECENT: Icon = IconClockHour4;

function useRecent(): SpotlightActionGroupData {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const here = useRouterState({ select: ({ location }) => location.pathname });
  const [pages] = useState(recentPages);
  const actions = pages
    .filter(({ href }) => href.split('?')[0] !== here)
    .map(
      ({ href, title }): SpotlightActionData => ({
        id: `recent-${href}`,
        label: title,
        description: decodeURIComponent(href.split('?')[0] as string),
        leftSection: <RECENT size={18} />,
        onClick: () => void navigate({ href }),
      }),
    );
  return { group: t('palette.recent'), actions };
}
