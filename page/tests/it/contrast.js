// Finds the texts of the page with a contrast below 4.5 to 1, the minimum of WCAG's level AA. Pictures are left out.
(() => {
  const channels = colour => {
    const [red, green, blue, alpha = 1] = colour.match(/[\d.]+/g).map(Number);
    return { rgb: [red, green, blue], alpha };
  };
  const luminance = rgb => {
    const [red, green, blue] = rgb.map(value => value / 255)
      .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const ground = element => {
    for (let at = element; at; at = at.parentElement) {
      const { rgb, alpha } = channels(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return rgb;
    }
    return [255, 255, 255];
  };
  const contrast = element => {
    const [one, other] = [channels(getComputedStyle(element).color).rgb, ground(element)].map(luminance);
    return (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  let texts = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility() || ["SCRIPT", "STYLE"].includes(element.tagName)) continue;
    // WCAG allows a lower contrast for disabled choices.
    if (element.closest(":disabled")) continue;
    texts += 1;
    const found = contrast(element);
    if (found < 4.5) faint.push(`${node.data.trim().slice(0, 40)}: ${found.toFixed(2)}`);
  }
  return { texts, faint };
})()
