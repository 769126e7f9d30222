export const auth = {
  title: 'Sign in to Atom',
  subtitle: 'Datasets, labels, runs and models in one place',
  username: 'Username',
  password: 'Password',
  signIn: 'Sign in',
  required: 'Fill this in',
  badCredentials: 'The username or the password is wrong.',
  throttled: 'Too many attempts. Try again in {{wait}}.',
  expired: 'Your session has ended. Sign in to continue where you were.',
};
