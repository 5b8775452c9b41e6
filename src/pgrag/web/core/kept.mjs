// The reader's theme and language, kept between visits where the browser allows it.

export function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

export function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // Without storage the choice holds until the page is left.
  }
}
