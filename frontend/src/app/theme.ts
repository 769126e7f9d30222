import { type CSSVariablesResolver, createTheme, type MantineColorsTuple } from '@mantine/core';

const atom: MantineColorsTuple = [
  '#eff0ff',
  '#dcdefd',
  '#b6b9f6',
  '#8e92ef',
  '#6b70ea',
  '#5559e7',
  '#494de6',
  '#3b3ecd',
  '#3336b8',
  '#292da3',
];
const dark: MantineColorsTuple = [
  '#c9cbd6',
  '#a9acbb',
  '#8a8ea0',
  '#63677a',
  '#3c4052',
  '#2c3040',
  '#222531',
  '#181a24',
  '#12141c',
  '#0c0d13',
];

export const theme = createTheme({
  primaryColor: 'atom',
  colors: { atom, dark },
  primaryShade: { light: 6, dark: 5 },
  fontFamily:
    "'Inter Variable', 'PingFang SC', 'Microsoft YaHei', 'Noto Sans CJK SC', 'Noto Sans SC', system-ui, sans-serif",
  fontFamilyMonospace: "ui-monospace, 'JetBrains Mono', 'DejaVu Sans Mono', 'Noto Sans Mono CJK SC', monospace",
  headings: { fontWeight: '650' },
  defaultRadius: 'md',
  autoContrast: true,
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontSizes: { xs: '0.75rem', sm: '0.83rem', md: '0.92rem', lg: '1.05rem', xl: '1.25rem' },
  components: {
    Badge: { defaultProps: { tt: 'none', variant: 'light' } },
    // A menu may hold items only; so the first of them gets the focus, as people with a keyboard expect.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Card: { defaultProps: { withBorder: true, padding: 'md' } },
    Tooltip: { defaultProps: { openDelay: 300, withArrow: true } },
    Button: { defaultProps: { size: 'xs' } },
    ActionIcon: { defaultProps: { variant: 'subtle' } },
    Drawer: { defaultProps: { position: 'right', size: 'lg' } },
    // A <header> outside sectioning content is a banner landmark, and the page has one already.
    DrawerHeader: { defaultProps: { component: 'div' } },
    ModalHeader: { defaultProps: { component: 'div' } },
  },
});

type Variables = Record<string, string>;
const HUES = [
  'gray',
  'red',
  'orange',
  'yellow',
  'teal',
  'cyan',
  'grape',
  'green',
  'blue',
  'pink',
  'violet',
  'indigo',
  'lime',
];

/** Text on a light tint: Mantine's shade 6 to 9 of the warm hues stays below 4.5:1, so each gets one that passes. */
const LIGHT_TEXT: Variables = {
  gray: '#4b5563',
  red: '#b42318',
  orange: '#a84300',
  yellow: '#7d5800',
  teal: '#05674f',
  cyan: '#0b6375',
  grape: '#86289e',
  green: '#226d31',
  blue: '#1459a8',
  pink: '#a61e4d',
  violet: '#5f3dc4',
  indigo: '#364fc7',
  lime: '#4c6b00',
};
const DARK_TEXT: Variables = {
  gray: '#c1c5d0',
  red: '#ffa8a8',
  orange: '#ffb066',
  yellow: '#ffd666',
  teal: '#63e6be',
  cyan: '#66d9e8',
  grape: '#e0a6f0',
  green: '#8ce99a',
  blue: '#a5d0ff',
  pink: '#faa2c1',
  violet: '#c3b1ff',
  indigo: '#b3c0ff',
  lime: '#c0eb75',
};

/** White on Mantine's red is 3.3:1, and 2.8:1 in the dark; on these it is 5.5:1 and more. */
const FILLED_RED: Variables = {
  '--mantine-color-red-filled': '#c92a2a',
  '--mantine-color-red-filled-hover': '#b42318',
};

const tints = (text: Variables): Variables =>
  Object.fromEntries(HUES.map((hue) => [`--mantine-color-${hue}-light-color`, text[hue] as string]));

/** Mantine's stock greys fail WCAG AA (3.3:1); these pass 4.5:1 on every surface that we use. */
export const resolver: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    ...tints(LIGHT_TEXT),
    ...FILLED_RED,
    '--mantine-color-body': '#ffffff',
    '--mantine-color-text': '#1b1e2b',
    '--mantine-color-dimmed': '#5c6370',
    '--mantine-color-placeholder': '#6b7280',
    '--mantine-color-error': '#b42318',
    '--mantine-color-anchor': '#3b3ecd',
    '--mantine-color-atom-light-color': '#3336b8',
  },
  dark: {
    ...tints(DARK_TEXT),
    ...FILLED_RED,
    '--mantine-color-gray-light': 'rgb(255 255 255 / 8%)',
    '--mantine-color-text': '#dcdee8',
    '--mantine-color-dimmed': '#9a9eb0',
    '--mantine-color-placeholder': '#8d91a4',
    '--mantine-color-error': '#ffa8a8',
    '--mantine-color-anchor': '#a9acff',
    '--mantine-color-atom-light-color': '#b6b9f6',
  },
});
