export const appearance = {
  title: 'Appearance',
  hint: 'Kept in this browser; the language is kept with your account too.',
  density: 'Density',
  comfortable: 'Comfortable',
  compact: 'Compact',
};
